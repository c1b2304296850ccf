import type { ManifestInput } from "@device-risk-signals/features";
import type { FeatureRunner, RunnerOptions } from "@device-risk-signals/features/runner";
import { hasCode, OperatorError } from "../errors/operator-error.ts";
import { Unavailable } from "../ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { findBundles, type LayerRow, nameOf } from "./decisions.ts";
import type { CountedFeature } from "./tally.ts";

export interface OpenLayer {
  readonly runner: FeatureRunner;
  /** The members of the layer, in their order. */
  readonly features: readonly CountedFeature[];
  /** What the features read of an event. */
  readonly inputs: readonly ManifestInput[];
}

export interface LayerRunnerOptions extends RunnerOptions {
  /**
   * If three events are too slow within this number of milliseconds, or if searches for slow events take a quarter of it,
   * the layer is paused until the first of them is that long ago. Default: a minute.
   */
  readonly pauseMs?: number;
  /** A layer whose process did not start is tried again after this number of milliseconds. Default: 30,000. */
  readonly retryMs?: number;
}

const PAUSE_MS = 60_000;
/** One slow event can take as long as thousands of other events. */
const SLOW_EVENTS_OF_PAUSE = 3;

/** A try to start a process can take 10 seconds. */
const RETRY_MS = 30_000;

/** A search for slow events: when it ended, and how long it took, in milliseconds of `performance.now()`. */
interface Search {
  readonly at: number;
  readonly took: number;
}

/** A process for each layer in use, which computes its features from the archived bundles. */
export class LayerRunners {
  readonly #open = new Map<number, Promise<OpenLayer>>();
  /**
   * For each layer, the last due events that were too slow, and when each was computed: milliseconds of
   * `performance.now()`.
   */
  readonly #slow = new Map<number, ReadonlyMap<string, number>>();
  readonly #searches = new Map<number, readonly Search[]>();
  /** When and why the process of a layer did not start. */
  readonly #failed = new Map<number, { readonly at: number; readonly error: unknown }>();
  readonly #options: LayerRunnerOptions;

  constructor(options: LayerRunnerOptions = {}) {
    this.#options = options;
  }

  /** @throws feature-not-loadable, and feature-not-started (Unavailable) */
  async find(executor: Executor, layer: LayerRow): Promise<OpenLayer> {
    const failed = this.#failed.get(layer.layer);
    const { retryMs = RETRY_MS } = this.#options;
    // guard(false): a layer that does not start takes no time of the other layers
    // fails: packages/server/src/features/slow-features.test.ts › again only after a time
    if (failed && performance.now() < failed.at + retryMs) throw failed.error;
    this.#failed.delete(layer.layer);
    const found = this.#open.get(layer.layer);
    if (found) return found;
    const onError = (error: unknown): void => {
      if (isLayerError(error)) this.#failed.set(layer.layer, { at: performance.now(), error });
    };
    const opening = openLayer(executor, layer, this.#options, onError);
    this.#open.set(layer.layer, opening);
    opening.catch((error: unknown) => {
      this.#open.delete(layer.layer);
      onError(error);
    });
    return opening;
  }

  /**
   * Ends the process of a layer, because the process no longer computes a feature that was too slow for an event. The
   * next `find` starts a new process.
   * @param slowDue ids of the due events that were too slow. No other events pause the layer. An event that is computed
   * again, such as after a failed transaction, counts once.
   */
  async renew(layer: number, slowDue: readonly string[]): Promise<void> {
    const slow = this.#recentSlow(layer);
    for (const eventId of slowDue) slow.set(eventId, performance.now());
    this.#slow.set(layer, slow);
    await this.#close(layer);
  }

  /** Counts the time of a search for slow events among due events, also if it found none. */
  addSearch(layer: number, took: number): void {
    this.#searches.set(layer, [...this.#recentSearches(layer), { at: performance.now(), took }]);
  }

  /** Whether no due event of the layer is computed now, because the last ones were too slow, or took too much time. */
  isPaused(layer: number): boolean {
    const searches = this.#recentSearches(layer);
    const took = searches.reduce((sum, search) => sum + search.took, 0);
    // One search can follow from a machine that was busy.
    const tookTooLong = searches.length > 1 && took >= this.#pauseMs / 4;
    return tookTooLong || this.#recentSlow(layer).size >= SLOW_EVENTS_OF_PAUSE;
  }

  get #pauseMs(): number {
    return this.#options.pauseMs ?? PAUSE_MS;
  }

  #recentSlow(layer: number): Map<string, number> {
    const slow = [...(this.#slow.get(layer) ?? [])];
    return new Map(slow.filter(([, at]) => at > performance.now() - this.#pauseMs));
  }

  #recentSearches(layer: number): readonly Search[] {
    return (this.#searches.get(layer) ?? []).filter(({ at }) => at > performance.now() - this.#pauseMs);
  }

  /** Ends the processes of other layers. */
  async keepOnly(layers: readonly LayerRow[]): Promise<void> {
    const kept = new Set(layers.map(({ layer }) => layer));
    const ending = [...this.#open.keys()].filter((layer) => !kept.has(layer));
    await Promise.all(ending.map((layer) => this.#close(layer)));
  }

  async close(): Promise<void> {
    await this.keepOnly([]);
  }

  async #close(layer: number): Promise<void> {
    const opening = this.#open.get(layer);
    this.#open.delete(layer);
    await opening?.then(({ runner }) => runner.close()).catch(() => {});
  }
}

/** Whether a layer can't be computed now, and another one may. */
export const isLayerError = (error: unknown): boolean => hasCode(error, "feature-not-loadable", "feature-not-started");

/** @param onError called with each error of `run`, as it is thrown. */
async function openLayer(
  executor: Executor,
  { layer, members }: LayerRow,
  options: RunnerOptions,
  onError: (error: unknown) => void,
): Promise<OpenLayer> {
  const bundles = await findBundles(executor, members);
  const features = bundles.map(({ manifest }) => ({ name: nameOf(manifest), output: manifest.output }));
  // A server without adopted features does not load this module.
  const { NotLoadable, NotStarted, openRunner } = await import("@device-risk-signals/features/runner");
  const inputs = bundles.flatMap(({ manifest }) => manifest.inputs);
  const codedError = (cause: unknown): unknown => {
    const message = `${cause instanceof Error ? cause.message : ""}, so layer ${layer} computes nothing`;
    // guard(false): no event is given up because the machine can't start a process
    // fails: packages/server/src/features/extraction.test.ts › no process starts
    if (cause instanceof NotStarted) return new Unavailable(message, { code: "feature-not-started", cause });
    if (cause instanceof NotLoadable) return new OperatorError("feature-not-loadable", message, { cause });
    return cause;
  };
  const runner = await openRunner(bundles, options).catch((error: unknown) => {
    throw codedError(error);
  });
  const run: FeatureRunner["run"] = (batch) =>
    runner.run(batch).catch((error: unknown) => {
      const coded = codedError(error);
      onError(coded);
      throw coded;
    });
  return { runner: { run, close: () => runner.close() }, features, inputs };
}
