import type { ManifestInput } from "@device-risk-signals/features";
import type { FeatureRunner, RunnerOptions } from "@device-risk-signals/features/runner";
import { OperatorError } from "../errors/operator-error.ts";
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
   * If three events are too slow within this number of milliseconds, the layer is paused until the first of them is
   * that long ago. Default: a minute.
   */
  readonly pauseMs?: number;
}

const PAUSE_MS = 60_000;
/** One slow event can take as long as thousands of other events. */
const SLOW_EVENTS_OF_PAUSE = 3;

/** A process for each layer in use, which computes its features from the archived bundles. */
export class LayerRunners {
  readonly #open = new Map<number, Promise<OpenLayer>>();
  /**
   * For each layer, the last due events that were too slow, and when each was computed: milliseconds of
   * `performance.now()`.
   */
  readonly #slow = new Map<number, ReadonlyMap<string, number>>();
  readonly #options: LayerRunnerOptions;

  constructor(options: LayerRunnerOptions = {}) {
    this.#options = options;
  }

  /** @throws feature-not-loadable. @throws Unavailable if no process starts. */
  async find(executor: Executor, layer: LayerRow): Promise<OpenLayer> {
    const found = this.#open.get(layer.layer);
    if (found) return found;
    const opening = openLayer(executor, layer, this.#options);
    this.#open.set(layer.layer, opening);
    opening.catch(() => this.#open.delete(layer.layer));
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

  /** Whether no due event of the layer is computed now, because too many of the last ones were too slow. */
  isPaused(layer: number): boolean {
    return this.#recentSlow(layer).size >= SLOW_EVENTS_OF_PAUSE;
  }

  #recentSlow(layer: number): Map<string, number> {
    const { pauseMs = PAUSE_MS } = this.#options;
    const slow = [...(this.#slow.get(layer) ?? [])];
    return new Map(slow.filter(([, at]) => at > performance.now() - pauseMs));
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

async function openLayer(executor: Executor, { layer, members }: LayerRow, options: RunnerOptions): Promise<OpenLayer> {
  const bundles = await findBundles(executor, members);
  const features = bundles.map(({ manifest }) => ({ name: nameOf(manifest), output: manifest.output }));
  // A server without adopted features does not load this module.
  const { NotLoadable, NotStarted, openRunner } = await import("@device-risk-signals/features/runner");
  const inputs = bundles.flatMap(({ manifest }) => manifest.inputs);
  const orUnavailable = (error: unknown): never => {
    // guard(false): no event is given up because the machine can't start a process
    // fails: packages/server/src/features/extraction.test.ts › no process starts
    if (error instanceof NotStarted) throw new Unavailable(error.message, { cause: error });
    throw error;
  };
  const runner = await openRunner(bundles, options).catch((cause: unknown) => {
    if (!(cause instanceof NotLoadable)) return orUnavailable(cause);
    throw new OperatorError("feature-not-loadable", `${cause.message}, so layer ${layer} computes nothing`, { cause });
  });
  const run: FeatureRunner["run"] = (batch) => runner.run(batch).catch(orUnavailable);
  return { runner: { run, close: () => runner.close() }, features, inputs };
}
