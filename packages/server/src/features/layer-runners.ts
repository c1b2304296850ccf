import type { ManifestInput } from "@device-risk-signals/features";
import type { FeatureRunner, RunnerOptions } from "@device-risk-signals/features/runner";
import { hasCode, OperatorError } from "../base/errors/operator-error.ts";
import { Unavailable } from "../base/ports.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { TimeShares } from "./time-shares.ts";
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
  /** A layer whose process did not start is tried again after this number of milliseconds. Default: 30,000. */
  readonly retryMs?: number;
}

/**
 * Milliseconds for the slow events of an account. Even if each feature ends its process, other accounts wait no longer
 * than a second for them.
 */
const ACCOUNT_MS = 500;
/**
 * Milliseconds for the events for which a feature is too slow, so that slow events of many accounts delay no other
 * events for long: ten of them may end a process.
 */
const FEATURE_MS = 2_000;
/** A try to start a process can take 10 seconds. */
const RETRY_MS = 30_000;

/** A process for each layer in use, which computes its features from the archived bundles. */
export class LayerRunners {
  readonly #open = new Map<number, Promise<OpenLayer>>();
  /** The times of accounts and of features. All layers share them: the processes of one worker compute in turn. */
  readonly accountTime = new TimeShares(ACCOUNT_MS);
  readonly featureTime = new TimeShares(FEATURE_MS);
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
    if (cause instanceof NotStarted) return new Unavailable(message, { code: "feature-not-started", cause });
    if (cause instanceof NotLoadable) return new OperatorError("feature-not-loadable", message, { cause });
    return cause;
  };
  const runner = await openRunner(bundles, options).catch((error: unknown) => {
    throw codedError(error);
  });
  const run: FeatureRunner["run"] = (...given) =>
    runner.run(...given).catch((error: unknown) => {
      const coded = codedError(error);
      onError(coded);
      throw coded;
    });
  return { runner: { run, close: () => runner.close() }, features, inputs };
}
