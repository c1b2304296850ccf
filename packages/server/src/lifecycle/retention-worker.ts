import { type ReceiptPorts, attestErasure, attestExpiry } from "./receipts/attest.ts";
import { destroyErasedSecrets } from "./recovery/replay-journal.ts";
import { type ErasureRow, hasUnfinishedErasures } from "./erasure/erasure-table.ts";
import { finishErasures } from "./erasure/finish-erasures.ts";
import type { AuditSigner } from "../audit/audit-signer.ts";
import type { DatabaseOptions } from "../store/postgres/database.ts";
import type { Connection, Executor } from "../store/postgres/executor.ts";
import { Loop } from "../base/loop.ts";
import type { OnError } from "../base/ports.ts";
import { expire, type ExpiryOptions } from "./retention/expire.ts";
import { type HoldState, readHoldState } from "./holds/hold-table.ts";
import { type DataRequestCounts, readDataRequestCounts } from "./requests/request-table.ts";
import { type Expired, recordRun, readRetentionState, type RetentionState } from "./retention/run-table.ts";
import { type FailedStep, runSteps } from "./retention/steps.ts";
import { withMaintenanceLock, tryWithMaintenanceLock } from "../store/postgres/maintenance-lock.ts";

export interface RetentionOptions extends ExpiryOptions {
  readonly database: DatabaseOptions;
  readonly attest: ReceiptPorts;
  readonly audit: AuditSigner;
  /** The actor that the record of the pass names. */
  readonly actor: string;
}

export interface Pass {
  /** The work of this pass and of a killed pass before it; `undefined` if it could not be recorded. */
  readonly expired: Expired | undefined;
  /** Steps that failed. The other steps ran nevertheless. */
  readonly failed: readonly FailedStep[];
}

/** Runs one pass, on a separate connection. @returns `undefined` if another process has the maintenance lock. */
export async function runRetention(options: RetentionOptions): Promise<Pass | undefined> {
  const { database, clock, actor, attest } = options;
  return tryWithMaintenanceLock(database, async (client) => {
    const startedAt = clock.now();
    let expired: Expired | undefined;
    const expiry = await expire(client, options);
    const rest = await runSteps([
      // guard(drop): an erasure is finished by the next pass
      { name: "finish erasures", run: () => finish(client, options) },
      {
        name: "record the pass",
        run: async () => {
          const run = { actor, startedAt, always: actor !== WORKER };
          expired = await recordRun(client, (statement) => attestExpiry(attest, statement), run);
        },
      },
    ]);
    return { expired, failed: [...expiry, ...rest] };
  });
}

/**
 * Finishes the started erasures. If there are none, it does not take the maintenance lock, so that it does not
 * block a retention pass.
 */
export async function finishErasuresNow(options: Omit<RetentionOptions, "actor">): Promise<void> {
  // guard(drop): an erasure that finds nothing to finish excludes no retention pass
  if (!(await hasUnfinishedErasures(options.attest.executor))) return;
  await withMaintenanceLock(options.database, (client) => finish(client, options));
}

async function finish(
  connection: Connection,
  { secrets, pseudonymizer, audit, keyStore, journal, codec, attest, signal }: Omit<RetentionOptions, "actor">,
): Promise<void> {
  if (!(await hasUnfinishedErasures(connection))) return;
  // guard(drop): secrets of erased subjects are destroyed
  await destroyErasedSecrets({ executor: connection, keyStore, secrets, codec }, journal);
  const sign = (erasure: ErasureRow, at: string): Promise<string> => attestErasure(attest, erasure, at);
  await finishErasures(connection, { pseudonymizer, audit, attest: sign, ...(signal && { signal }) });
}

export const WORKER = "server";

/** State that an operator must check, in addition to what a pass deleted. */
export type PassState = RetentionState & HoldState & DataRequestCounts;

async function stateOf(executor: Executor): Promise<PassState> {
  return {
    ...(await readRetentionState(executor)),
    ...(await readHoldState(executor)),
    ...(await readDataRequestCounts(executor)),
  };
}

export interface WorkerOptions extends Omit<RetentionOptions, "actor" | "signal"> {
  readonly executor: Executor;
  /**
   * Checks that the key store has every secret of stored events, and applies the entries of the erasure journal that
   * this database or key store lacks. If it rejects, the pass deletes nothing.
   */
  readonly replay: () => Promise<unknown>;
  readonly everyMs: number;
  readonly onError: OnError;
  /** Called after every pass, even if the pass failed, or if another process had the maintenance lock. */
  readonly onPass: (state: PassState, expired: Expired | undefined) => void;
}

/** Runs passes at intervals. If the server was down or was killed, its next pass does the missed work. */
export class RetentionWorker extends Loop {
  constructor(options: WorkerOptions) {
    const { everyMs, onError } = options;
    super((signal) => pass(options, signal), { everyMs, onError: (error) => onError(error, "retention pass") });
  }
}

async function pass({ replay, onPass, ...options }: WorkerOptions, signal: AbortSignal): Promise<void> {
  const { executor, onError } = options;
  // Orders of the journal are applied before anything is deleted: a hold may be among them.
  const result = await replay()
    .then(() => runRetention({ ...options, actor: WORKER, signal }))
    .catch((error: unknown) => onError(error, "retention pass"));
  // guard(throw): overdue work is reported even if every pass fails
  for (const { step, error } of result?.failed ?? []) onError(error, `retention pass: ${step}`);
  await stateOf(executor)
    .then((state) => onPass(state, result?.expired))
    .catch((error: unknown) => onError(error, "read retention state"));
}
