import { setTimeout as sleep } from "node:timers/promises";
import type { QueryResultRow } from "pg";
import type { OperatorError } from "../../errors/operator-error.ts";
import { excludeIngestion } from "../../events/exclude-ingestion.ts";
import { destroyAll, destroyHoldSecrets } from "../holds/destroy-hold-secrets.ts";
import { insertTombstones, renewHeldTombstones, renewTombstones } from "../../events/tombstones.ts";
import { copyHeldEvents, findHeldOfPartition } from "../holds/copy-held-events.ts";
import type { EntryCodec } from "../../journal/entry-codec.ts";
import type { ErasureJournal } from "../../journal/journal.ts";
import type { Clock, Sealer } from "../../ports.ts";
import type { KeyStore } from "../../crypto/key-store.ts";
import type { Pseudonymizer } from "../../crypto/pseudonymizer.ts";
import { isUnreadable } from "../../crypto/open-if-readable.ts";
import { partitionSecretName } from "../../crypto/sealer.ts";
import type { Secrets } from "../../crypto/secrets.ts";
import { type Executor, inOneTransaction } from "../../postgres/database.ts";
import { sqlState } from "../../postgres/errors.ts";
import { type Partition, PARTITION_COLUMNS } from "../../events/partition-slices.ts";
import { isMaintenanceLockAwaited } from "../../postgres/maintenance-lock.ts";
import { type FailedStep, runSteps, type Step } from "./steps.ts";

/** Dropping takes a lock that ingestion waits behind: better give up soon and try again than hold everybody up. */
const LOCK_WITHIN = "100ms";
const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK = "40P01";
const TRIES = 50;
const RETRY_MS = 200;
/** Rows that one statement deletes. */
const BATCH = 1_000;

export interface ExpiryOptions {
  readonly secrets: Secrets;
  /** Re-seals what a hold covers, before its partition goes. */
  readonly sealer: Sealer;
  readonly names: Pseudonymizer;
  /** For how long a key is remembered after its event is gone: milliseconds. */
  readonly replayWindow: number;
  readonly journal: ErasureJournal | undefined;
  readonly codec: EntryCodec;
  readonly keyStore: KeyStore;
  readonly clock: Clock;
  /** Looked at between steps: what was begun is finished by the next run. */
  readonly signal?: AbortSignal;
}

/**
 * Deletes what has expired: rows, partitions, the secrets that open their backups, and idempotency keys whose replay window
 * is over. Each step is done once, also when a process is killed between two, and is recorded by the database.
 *
 * @param executor one connection: its lock time-out is set.
 * @returns the steps that failed. A held event that can't be opened keeps its partition, and nothing else.
 */
export async function expire(executor: Executor, options: ExpiryOptions): Promise<readonly FailedStep[]> {
  const steps: readonly Step[] = [
    { name: "set the lock time-out", run: () => executor.query(`set lock_timeout = '${LOCK_WITHIN}'`) },
    { name: "delete expired events", run: () => deleteRows(executor, options) },
    { name: "drop expired partitions", run: () => dropPartitions(executor, options) },
    { name: "delete released copies", run: () => releaseCopies(executor, options) },
    { name: "destroy secrets of dropped partitions", run: () => destroySecrets(executor, options) },
    { name: "destroy secrets of ended holds", run: () => unlessLocked(() => destroyHoldSecrets(executor, options)) },
    { name: "delete expired idempotency keys", run: () => deleteIdempotencyKeys(executor, options) },
    { name: "reset the lock time-out", run: () => executor.query("reset lock_timeout") },
  ];
  return runSteps(steps);
}

/** Of partitions that are longer than the period asks for. */
async function deleteRows(executor: Executor, { signal }: ExpiryOptions): Promise<void> {
  const { rows } = await executor.query<{ partition_id: string }>(
    "select partition_id from partly_expired_partition order by lower_bound",
  );
  for (const { partition_id } of rows) {
    await inBatches(executor, "delete_expired_events($1, $2)", [partition_id], signal);
  }
}

/**
 * Calls a function that does at most so many and says how many it did, until none are left or somebody waits; the limit
 * is its last argument.
 */
async function inBatches(
  executor: Executor,
  call: string,
  values: readonly unknown[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (;;) {
    if (signal?.aborted) return;
    const batch = (): Promise<{ rows: { done: number }[] }> =>
      executor.query<{ done: number }>(`select ${call} as done`, [...values, BATCH]);
    const done = (await unlessLocked(batch))?.rows[0]?.done ?? 0;
    // guard(left): a long pass gives way
    // fails: e2e/retention.test.ts › gives way
    if (done < BATCH || (await isMaintenanceLockAwaited(executor))) return;
  }
}

/** @throws keys-destroyed, payload-damaged of a held event that can't be opened, or an AggregateError of several. */
async function dropPartitions(executor: Executor, options: ExpiryOptions): Promise<void> {
  const unreadable: OperatorError[] = [];
  const { rows } = await executor.query<Partition>(
    `select ${PARTITION_COLUMNS}
      from event_partition p join purpose u on u.code = p.purpose
      where p.dropped_at is null and p.upper_bound + u.raw_retention <= now() order by p.upper_bound`,
  );
  for (const partition of rows) {
    try {
      await drop(executor, partition, options);
    } catch (error) {
      // guard(true): an event that can't be opened stops nothing else
      // fails: e2e/holds.test.ts › can't be opened keeps its partition
      if (!isUnreadable(error)) throw error;
      unreadable.push(error);
    }
  }
  if (unreadable.length > 1) throw new AggregateError(unreadable, `${unreadable.length} partitions are kept`);
  if (unreadable[0]) throw unreadable[0];
}

/**
 * Copies what is held, then drops: in one transaction, so that an event is always read from one place. Where a lock is
 * not available, the next run tries again.
 */
async function drop(executor: Executor, partition: Partition, options: ExpiryOptions): Promise<void> {
  await executor.query("begin");
  try {
    const held = await unlessLocked(async () => {
      await executor.query("select lock_holds()");
      return copyHeldEvents(executor, options.sealer, findHeldOfPartition(executor, partition));
    });
    const isDropped = held !== undefined && (await dropWhenUnlocked(executor, partition.partition_id, options.signal));
    await executor.query(isDropped ? "commit" : "rollback");
  } catch (error) {
    await executor.query("rollback").catch(() => {});
    throw error;
  }
}

/** @returns whether it is dropped. */
async function dropWhenUnlocked(executor: Executor, id: string, signal: AbortSignal | undefined): Promise<boolean> {
  await executor.query("savepoint held");
  for (let tries = 0; tries < TRIES; tries++) {
    if (signal?.aborted) return false;
    const result = await unlessLocked(() => executor.query("select from drop_expired_partition($1)", [id]));
    if (result) return result.rowCount === 1;
    await executor.query("rollback to held");
    await sleep(RETRY_MS);
  }
  return false;
}

/** @returns `undefined` where somebody holds a lock that it needs. */
async function unlessLocked<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    // guard(drop): a lock that is taken is tried again
    // fails: e2e/retention.test.ts › waits for nobody for long
    if ([LOCK_NOT_AVAILABLE, DEADLOCK].includes(sqlState(error) ?? "")) return undefined;
    throw error;
  }
}

interface ReleasedCopy {
  readonly account: string;
  readonly key: string;
  readonly event_id: string;
  /** Absent where the event is erased: then a tombstone has it. */
  readonly request_mac: Buffer | null;
}

/**
 * Deletes copies that no hold covers any more. Their idempotency keys become tombstones, and existing tombstones are
 * renewed, so that the replay window begins when the last copy is deleted.
 */
async function releaseCopies(executor: Executor, { names, signal }: ExpiryOptions): Promise<void> {
  const text = `select account, idempotency_key as key, event_id, request_mac from released_copy limit ${BATCH}`;
  for (;;) {
    if (signal?.aborted) return;
    const { rows } = await executor.query<ReleasedCopy & QueryResultRow>(text);
    if (rows.length === 0) return;
    const ledger = rows.flatMap((row) => (row.request_mac ? [{ ...row, request_mac: row.request_mac }] : []));
    await insertTombstones(executor, names, ledger);
    await renewTombstones(executor, names, rows);
    // From here on, every commit batch sees the tombstones.
    if (ledger.length > 0) await inOneTransaction(executor, () => excludeIngestion(executor));
    const ids = rows.map(({ event_id }) => event_id);
    const deleted = await unlessLocked(() => executor.query("select delete_released_copies($1::uuid[])", [ids]));
    if (!deleted || rows.length < BATCH || (await isMaintenanceLockAwaited(executor))) return;
  }
}

/** After the drop is durable: a secret that is gone while its events are there would make them unreadable. */
async function destroySecrets(executor: Executor, { secrets, signal }: ExpiryOptions): Promise<void> {
  const { rows } = await executor.query<{ partition_id: string; secrets: string[] }>(
    `select partition_id, (partition_id || later_secrets)::text[] as secrets from event_partition
      where dropped_at is not null and secret_destroyed_at is null`,
  );
  for (const { partition_id, secrets: ids } of rows) {
    if (signal?.aborted) return;
    const existed = await destroyAll(secrets, ids.map(partitionSecretName));
    await executor.query("select record_destroyed_secret($1, $2)", [partition_id, existed]);
  }
}

async function deleteIdempotencyKeys(
  executor: Executor,
  { names, replayWindow, signal }: ExpiryOptions,
): Promise<void> {
  const window = `${replayWindow} milliseconds`;
  const { rows } = await executor.query<{ partition_id: string }>(
    "select partition_id from event_partition where idempotency_keys_deleted_at is null and dropped_at + $1::interval <= now()",
    [window],
  );
  for (const { partition_id } of rows) {
    await inBatches(executor, "delete_idempotency_keys($1, $2, $3)", [partition_id, window], signal);
  }
  await renewHeldTombstones(executor, names, window);
  await inBatches(executor, "delete_expired_tombstones($1, $2)", [window], signal);
}
