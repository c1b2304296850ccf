import type { ManifestInput } from "@device-risk-signals/features";
import type { FeatureRunner, RunnerOptions } from "@device-risk-signals/features/runner";
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
  /** Milliseconds until a feature that was too slow is computed again. Default: a minute. */
  readonly pauseMs?: number;
}

const PAUSE_MS = 60_000;

/** A process for each layer in use, which computes its features from the archived bundles. */
export class LayerRunners {
  readonly #open = new Map<number, Promise<OpenLayer>>();
  /** When the pause of a layer ends: milliseconds of `performance.now()`. */
  readonly #pausedUntil = new Map<number, number>();
  readonly #options: LayerRunnerOptions;

  constructor(options: LayerRunnerOptions = {}) {
    this.#options = options;
  }

  /**
   * A layer whose pause has ended gets a new process, which computes all of its features again.
   * @throws TypeError for an archived bundle that was changed.
   */
  async find(executor: Executor, layer: LayerRow): Promise<OpenLayer> {
    if ((this.#pausedUntil.get(layer.layer) ?? Number.POSITIVE_INFINITY) <= performance.now()) {
      await this.#close(layer.layer);
    }
    const found = this.#open.get(layer.layer);
    if (found) return found;
    const opening = openLayer(executor, layer, this.#options);
    this.#open.set(layer.layer, opening);
    opening.catch(() => this.#open.delete(layer.layer));
    return opening;
  }

  /** Notes that the process of a layer has stopped to compute a feature that was too slow. */
  pause(layer: number): void {
    const { pauseMs = PAUSE_MS } = this.#options;
    if (!this.#pausedUntil.has(layer)) this.#pausedUntil.set(layer, performance.now() + pauseMs);
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
    this.#pausedUntil.delete(layer);
    await opening?.then(({ runner }) => runner.close()).catch(() => {});
  }
}

async function openLayer(executor: Executor, { members }: LayerRow, options: RunnerOptions): Promise<OpenLayer> {
  const bundles = await findBundles(executor, members);
  const features = bundles.map(({ manifest }) => ({ name: nameOf(manifest), output: manifest.output }));
  // A server without adopted features does not load this module.
  const { openRunner } = await import("@device-risk-signals/features/runner");
  const inputs = bundles.flatMap(({ manifest }) => manifest.inputs);
  return { runner: await openRunner(bundles, options), features, inputs };
}
