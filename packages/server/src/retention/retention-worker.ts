import { type AttestPorts, attestErasure } from "../erasure/attest.ts";
import { markKeyStore } from "../erasure/catch-up.ts";
import type { ErasureRow } from "../erasure/erasures.ts";
import { finishErasures } from "../erasure/finish.ts";
import type { ErasureJournal } from "../erasure/journal.ts";
import type { KeyStore } from "../seal/key-store.ts";
import type { LedgerNames } from "../seal/ledger-names.ts";
import type { Clock } from "../ports.ts";
import { type DatabaseOptions, type Executor, withClient } from "../store/database.ts";
import { type Expired, expire, type ExpiryOptions } from "./expiry.ts";
import { type HoldState, holdState } from "../holds/holds.ts";
import { type RequestState, requestState } from "../requests/data-requests.ts";
import { recordRun, retentionState, type RetentionState } from "./runs.ts";

/** Held while a pass runs: one worker at a time, over all servers and commands. */
const LOCK = 7_236_518;

export interface RetentionOptions extends ExpiryOptions {
  readonly database: DatabaseOptions;
  readonly clock: Clock;
  readonly keyStore: KeyStore;
  readonly names: LedgerNames;
  readonly journal: ErasureJournal | undefined;
  readonly attest: AttestPorts;
  /** Who runs it, for the record. */
  readonly actor: string;
}

/**
 * One pass, on a connection of its own.
 * @returns what it let go of, or `undefined` where another worker is at it.
 */
export async function runRetention(options: RetentionOptions): Promise<Expired | undefined> {
  const { database, clock, actor } = options;
  return withClient({ ...database, query_timeout: 0, statement_timeout: 0 }, async (client) => {
    const text = "select pg_try_advisory_lock($1) as alone";
    const { rows } = await client.query<{ alone: boolean }>(text, [LOCK]);
    if (!rows[0]?.alone) return undefined;
    const startedAt = clock.now();
    const expired = await expire(client, options);
    await finish(client, options);
    if (expired.secrets > 0) await markKeyStore(client, options.keyStore);
    const didSomething = Object.values(expired).some((count: number) => count > 0);
    if (didSomething || actor !== WORKER) await recordRun(client, options.attest, { ...expired, actor, startedAt });
    return expired;
  });
}

/** Runs work while no pass is under way, and nobody destroys a secret. */
export function alone<T>(database: DatabaseOptions, work: (executor: Executor) => Promise<T>): Promise<T> {
  return withClient({ ...database, query_timeout: 0, statement_timeout: 0 }, async (client) => {
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    return work(client);
  });
}

/** Finishes what an erasure has begun. */
export function finishNow(options: RetentionOptions): Promise<void> {
  return alone(options.database, (client) => finish(client, options));
}

/** Erasures that were begun, and the mark of what the key store has carried out. */
async function finish(
  executor: Executor,
  { secrets, names, keyStore, attest, signal }: RetentionOptions,
): Promise<void> {
  const { rows } = await executor.query<{ unfinished: boolean }>(
    `select exists (select from erasure where finished_at is null) as unfinished`,
  );
  if (!rows[0]?.unfinished) return;
  const sign = (erasure: ErasureRow): Promise<string> => attestErasure(attest, erasure);
  await finishErasures(executor, { secrets, names, attest: sign, ...(signal && { signal }) });
  await markKeyStore(executor, keyStore);
}

export const WORKER = "server";

/** What is to be looked at, besides what a pass let go of. */
export type PassState = RetentionState & HoldState & RequestState;

export interface WorkerOptions extends Omit<RetentionOptions, "actor" | "signal"> {
  readonly executor: Executor;
  readonly everyMs: number;
  readonly onFault: (fault: unknown) => void;
  /** After every pass, be it another worker's. */
  readonly onPass: (state: PassState, expired: Expired | undefined) => void;
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
      onPass(
        { ...(await retentionState(executor)), ...(await holdState(executor)), ...(await requestState(executor)) },
        expired,
      );
    } catch (fault) {
      this.#options.onFault(fault);
    }
  }
}
