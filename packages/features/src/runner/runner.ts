import type { Bundle } from "../manifest.ts";
import type { ReadInput } from "../readings/readings.ts";
import type { Result } from "../result.ts";

export interface RunnerOptions {
  /** Milliseconds that one definition may take for one event. Default: 1. */
  readonly budgetMs?: number;
}

export interface PausedFeature {
  readonly id: string;
  readonly version: number;
}

export interface BatchResults {
  /** For each event of the batch, one result for each bundle, in the order of both. */
  readonly events: readonly (readonly Result[])[];
  /** Features that exceeded their budget in this batch. The runner computes them no more: results are `failed`. */
  readonly paused: readonly PausedFeature[];
}

/** Computes features in a process without environment, keys, files and network. */
export interface FeatureRunner {
  /** @param batch how to read each event; see `readEvent`. */
  run(batch: readonly ReadInput[]): Promise<BatchResults>;
  close(): Promise<void>;
}

/** @throws TypeError for a bundle whose program can't be loaded. */
export type OpenRunner = (bundles: readonly Bundle[], options?: RunnerOptions) => Promise<FeatureRunner>;
