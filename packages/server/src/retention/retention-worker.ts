import pg from "pg";
import type { Clock } from "../ports.ts";
import type { DatabaseOptions, Executor } from "../store/database.ts";
import { type Expired, expire, type ExpiryOptions } from "./expiry.ts";
import { type HoldState, holdState } from "../holds/holds.ts";
import { recordRun, retentionState, type RetentionState } from "./runs.ts";

/** Held while a pass runs: one worker at a time, over all servers and commands. */
const LOCK = 7_236_518;

export interface RetentionOptions extends ExpiryOptions {
  readonly database: DatabaseOptions;
  readonly clock: Clock;
  /** Who runs it, for the record. */
  readonly actor: string;
}

/**
 * One pass, on a connection of its own.
 * @returns what it let go of, or `undefined` where another worker is at it.
 */
export async function runRetention(options: RetentionOptions): Promise<Expired | undefined> {
  const { database, clock, actor } = options;
  const client = new pg.Client({ ...database, query_timeout: 0, statement_timeout: 0 });
  client.on("error", () => {});
  await client.connect();
  try {
    const text = "select pg_try_advisory_lock($1) as alone";
    const { rows } = await client.query<{ alone: boolean }>(text, [LOCK]);
    if (!rows[0]?.alone) return undefined;
    const startedAt = clock.now();
    const expired = await expire(client, options);
    const didSomething = Object.values(expired).some((count: number) => count > 0);
    if (didSomething || actor !== WORKER) await recordRun(client, clock, { ...expired, actor, startedAt });
    return expired;
  } finally {
    await client.end().catch(() => {});
  }
}

export const WORKER = "server";

export interface WorkerOptions extends Omit<RetentionOptions, "actor" | "signal"> {
  readonly executor: Executor;
  readonly everyMs: number;
  readonly onFault: (fault: unknown) => void;
  /** After every pass, be it another worker's. */
  readonly onPass: (state: RetentionState & HoldState, expired: Expired | undefined) => void;
}

/** Runs a pass time and again; what a pass missed, because the server was down or killed, the next one does. */
export class RetentionWorker {
  readonly #options: WorkerOptions;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#wait();
  }

  /** Waits for the step that is under way. */
  async close(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#pass().then(() => {
        if (!this.#stopping.signal.aborted) this.#wait();
      });
    }, this.#options.everyMs);
    this.#timer.unref();
  }

  async #pass(): Promise<void> {
    try {
      const expired = await runRetention({ ...this.#options, actor: WORKER, signal: this.#stopping.signal });
      const { executor, onPass } = this.#options;
      onPass({ ...(await retentionState(executor)), ...(await holdState(executor)) }, expired);
    } catch (fault) {
      this.#options.onFault(fault);
    }
  }
}
