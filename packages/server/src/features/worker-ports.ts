import type pg from "pg";
import type { OnError } from "../base/ports.ts";
import type { Extracted, ExtractPorts } from "./extract.ts";

export interface WorkerPorts extends Omit<ExtractPorts, keyof WorkerParts> {
  readonly pool: pg.Pool;
  readonly onError: OnError;
  readonly onExtracted?: (extracted: Extracted) => void;
  /** Seconds before a batch that failed once is tried again; the time doubles with each failure, up to a minute. */
  readonly retrySeconds?: number;
}

/** What a worker makes for itself, and uses for all batches. */
export type WorkerParts = Pick<ExtractPorts, "runners" | "parserOf">;
