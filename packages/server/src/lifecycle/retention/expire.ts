import { setTimeout as sleep } from "node:timers/promises";
import type { QueryResult } from "pg";
import type { OperatorError } from "../../base/errors/operator-error.ts";
import { excludeIngestion } from "../../store/events/exclude-ingestion.ts";
import { destroyAuditSecrets } from "../../audit/audit-secrets.ts";
import type { AuditSigner } from "../../audit/audit-signer.ts";
import { REJECTIONS_KEPT_MS } from "../../ingest/recent-rejections/recent-rejection-table.ts";
import { destroyForReceipt, destroyHoldSecrets } from "../holds/destroy-hold-secrets.ts";
import { insertTombstones, renewHeldTombstones, renewTombstones } from "../../store/events/tombstones.ts";
import { copyHeldEvents, findHeldOfPartition, hasCopies } from "../holds/copy-held-events.ts";
import { copyFeaturesOfPartition } from "../holds/copy-held-features.ts";
import type { EntryCodec } from "../journal/entry-codec.ts";
import type { ErasureJournal } from "../journal/journal.ts";
import type { Clock, Sealer } from "../../base/ports.ts";
import type { FeatureSealer } from "../../store/crypto/feature-sealer.ts";
import type { KeyStore } from "../../store/crypto/key-store.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import { isUnreadable } from "../../store/crypto/open-if-readable.ts";
import { partitionSecretName } from "../../store/crypto/partition-secrets.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import { inTransactionOn } from "../../store/postgres/database.ts";
import { sqlState } from "../../store/postgres/errors.ts";
import type { Connection, Executor, Transaction } from "../../store/postgres/executor.ts";
import { SQL_STATES } from "../../store/postgres/sql-states.ts";
import { type Partition, PARTITION_COLUMNS, PARTITION_TYPES } from "../../store/events/partition-slices.ts";
import { isMaintenanceLockAwaited } from "../../store/postgres/maintenance-lock.ts";
import { type FailedStep, runSteps, type Step } from "./steps.ts";
import { lockHolds } from "../../store/postgres/advisory-locks.ts";
import { query, sql } from "../../store/postgres/statement.ts";

/**
 * While a drop waits for its lock, ingestion waits, too. Therefore the drop soon stops waiting and tries again later.
 */
const LOCK_WITHIN = "100ms";
const LOCK_NOT_AVAILABLE = new Set<string | undefined>([SQL_STATES.lockNotAvailable, SQL_STATES.deadlockDetected]);
const MAX_TRIES = 50;
const RETRY_MS = 200;
/** Maximum number of rows that one statement deletes. */
const BATCH = 1_000;

export interface ExpiryOptions {
  readonly audit: AuditSigner;
  readonly secrets: Secrets;
  /** Seals held events again, before their partition is dropped. */
  readonly sealer: Sealer;
  /** Seals feature values of held events again. */
  readonly featureSealer: FeatureSealer;
  readonly pseudonymizer: Pseudonymizer;
  /** Time in milliseconds for which an idempotency key is kept after its event is deleted. */
  readonly replayWindow: number;
  /** Time in milliseconds for which counts of outcomes and rejections are kept. */
  readonly countRetention: number;
  /** Time in milliseconds for which the secret of a dropped partition is kept if some of its events have held copies. */
  readonly heldDestructionDelay: number;
  /**
   * Time in milliseconds for which reasons in the audit are readable after the erasure of their account, and for which
   * other texts of operators are kept, such as those of ended cases.
   */
  readonly auditReasonRetention: number;
  readonly journal: ErasureJournal | undefined;
  readonly codec: EntryCodec;
  readonly keyStore: KeyStore;
  readonly clock: Clock;
  /** Checked between steps. If it stops the pass, the next pass does the rest. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the steps that delete what has expired or is no longer needed: rows, partitions and the secrets that open their
 * backups, released copies, idempotency keys whose replay window is over, counts, cases, sessions, and audit secrets of
 * erased accounts. The database records each step, so that a step is done once even if a process is killed between two
 * steps.
 *
 * @param connection a connection whose lock time-out this function changes.
 * @returns the steps that failed. A held event that can't be opened prevents only the drop of its partition.
 */
export async function expire(connection: Connection, options: ExpiryOptions): Promise<readonly FailedStep[]> {
  const steps: readonly Step[] = [
    { name: "set the lock time-out", run: () => connection.query(`set lock_timeout = '${LOCK_WITHIN}'`) },
    { name: "delete expired events", run: () => deleteRows(connection, options) },
    { name: "drop expired partitions", run: () => dropPartitions(connection, options) },
    { name: "drop expired partitions of features", run: () => dropFeaturePartitions(connection, options) },
    { name: "delete released copies", run: () => releaseCopies(connection, options) },
    { name: "destroy secrets of dropped partitions", run: () => destroyPartitionSecrets(connection, options) },
    { name: "destroy secrets of features", run: () => destroyFeatureSecrets(connection, options) },
    { name: "destroy secrets of ended holds", run: () => unlessLocked(() => destroyHoldSecrets(connection, options)) },
    { name: "delete expired idempotency keys", run: () => deleteIdempotencyKeys(connection, options) },
    ...DELETIONS.map(({ name, call, period }) => ({
      name,
      run: () => deleteAfter(connection, call, period(options), options.signal),
    })),
    { name: "delete expired sessions", run: () => deleteSessions(connection, options) },
    { name: "destroy audit secrets of erased accounts", run: () => destroyReasons(connection, options) },
    { name: "reset the lock time-out", run: () => connection.query("reset lock_timeout") },
  ];
  return runSteps(steps.map(({ name, run }) => ({ name, run: () => whenUnlocked(run, options.signal) })));
}

/** Runs a step again while another session, such as an autovacuum, has locked a table that the step reads. */
async function whenUnlocked(run: Step["run"], signal: AbortSignal | undefined): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      // guard(drop): a pass does not fail because of a short lock
      if (LOCK_NOT_AVAILABLE.has(sqlState(error)) && tries < MAX_TRIES && !signal?.aborted) {
        await sleep(RETRY_MS);
        continue;
      }
      throw error;
    }
  }
}

const LIST_PARTLY_EXPIRED = sql("select partition_id from partly_expired_partition order by lower_bound", [], {
  partition_id: "uuid",
});

/**
 * Deletes expired rows from partitions whose period is long compared with the retention period, because such partitions
 * are dropped late.
 */
async function deleteRows(executor: Executor, { signal }: ExpiryOptions): Promise<void> {
  const { rows } = await query(executor, LIST_PARTLY_EXPIRED);
  for (const { partition_id } of rows) {
    await inBatches(executor, () => query(executor, DELETE_EXPIRED_EVENTS, [partition_id, BATCH]), signal);
  }
}

/**
 * These statements call SQL functions. Their last argument limits the number of rows, and they return the number of
 * processed rows.
 */
const DELETE_EXPIRED_EVENTS = sql("select delete_expired_events($1, $2) as done", ["uuid", "int4"], { done: "int8" });
const DELETE_EXPIRED_FEATURES = sql("select delete_expired_features($1, $2) as done", ["uuid", "int4"], {
  done: "int8",
});
const DELETE_IDEMPOTENCY_KEYS = sql(
  "select delete_idempotency_keys($1, $2, $3) as done",
  ["uuid", "interval", "int4"],
  { done: "int8" },
);
const deletion = (name: string) => sql(`select ${name}($1, $2) as done`, ["interval", "int4"], { done: "int8" });
/** Rows that are deleted when a period is over. */
const DELETIONS = [
  {
    name: "delete expired counts",
    call: deletion("delete_expired_counts"),
    period: ({ countRetention }) => countRetention,
  },
  { name: "delete old rejections", call: deletion("delete_old_rejections"), period: () => REJECTIONS_KEPT_MS },
  {
    name: "delete ended cases",
    call: deletion("delete_ended_cases"),
    period: ({ auditReasonRetention }) => auditReasonRetention,
  },
  {
    name: "delete unused identities",
    call: deletion("delete_unused_identities"),
    period: ({ auditReasonRetention }) => auditReasonRetention,
  },
] as const satisfies readonly {
  readonly name: string;
  readonly call: ReturnType<typeof deletion>;
  /** In milliseconds. */
  readonly period: (options: ExpiryOptions) => number;
}[];
const DELETE_EXPIRED_TOMBSTONES = deletion("delete_expired_tombstones");
const DELETE_EXPIRED_SESSIONS = sql("select delete_expired_sessions($1) as done", ["int4"], { done: "int8" });

/**
 * Repeats a call until no rows are left, a lock is not available, the signal is aborted, or another session waits for
 * the maintenance lock.
 */
async function inBatches(
  executor: Executor,
  batch: () => Promise<QueryResult<{ done: number }>>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (;;) {
    if (signal?.aborted) return;
    const done = (await unlessLocked(batch))?.rows[0]?.done ?? 0;
    // guard(left): a long pass ends if another session waits for the maintenance lock
    if (done < BATCH || (await isMaintenanceLockAwaited(executor))) return;
  }
}

const listExpired = (from: string, retention: "raw" | "derived") =>
  sql(
    `select ${PARTITION_COLUMNS}
      ${from} join purpose u on u.code = p.purpose
      where p.dropped_at is null and p.upper_bound + u.${retention}_retention <= transaction_time()
      order by p.upper_bound`,
    [],
    PARTITION_TYPES,
  );
const LIST_EXPIRED_PARTITIONS = listExpired("from event_partition p", "raw");
const LIST_EXPIRED_FEATURE_PARTITIONS = listExpired("from feature_partition p", "derived");

async function dropPartitions(connection: Connection, options: ExpiryOptions): Promise<void> {
  const { rows } = await query(connection, LIST_EXPIRED_PARTITIONS);
  await dropEach(rows, (partition) => drop(connection, partition, options));
}

/**
 * Drops each partition. Continues after a partition that has a held event which can't be opened.
 * @throws keys-destroyed or payload-damaged for such an event, or an AggregateError of several such errors.
 */
async function dropEach(
  partitions: readonly Partition[],
  drop: (partition: Partition) => Promise<void>,
): Promise<void> {
  const unreadable: OperatorError[] = [];
  for (const partition of partitions) {
    try {
      await drop(partition);
    } catch (error) {
      // guard(true): an event that can't be opened stops nothing else
      if (!isUnreadable(error)) throw error;
      unreadable.push(error);
    }
  }
  if (unreadable.length > 1) throw new AggregateError(unreadable, `${unreadable.length} partitions are kept`);
  if (unreadable[0]) throw unreadable[0];
}

/**
 * Copies the held events of a partition, and drops the partition. Both happen in one transaction, so that a read never
 * finds an event twice or not at all. If a lock is not available, the next pass tries again.
 */
async function drop(connection: Connection, partition: Partition, options: ExpiryOptions): Promise<void> {
  const work = async (transaction: Transaction): Promise<boolean> => {
    const held = await unlessLocked(async () => {
      await lockHolds(transaction);
      return copyHeldEvents(transaction, options, findHeldOfPartition(transaction, partition));
    });
    return held !== undefined && (await dropWhenUnlocked(transaction, partition.partition_id, options.signal));
  };
  await inTransactionOn(connection, work, (isDropped) => (isDropped ? "commit" : "rollback"));
}

const DROP_EXPIRED_PARTITION = sql("select 1 from drop_expired_partition($1)", ["uuid"]);

/** @returns whether the partition was dropped. */
async function dropWhenUnlocked(
  transaction: Transaction,
  id: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  await transaction.query("savepoint held");
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (signal?.aborted) return false;
    const result = await unlessLocked(() => query(transaction, DROP_EXPIRED_PARTITION, [id]));
    if (result) return result.rowCount === 1;
    await transaction.query("rollback to held");
    await sleep(RETRY_MS);
  }
  return false;
}

/** @returns `undefined` if another session holds a lock that the work needs. */
async function unlessLocked<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    // guard(drop): a step whose lock is taken is tried again
    if (LOCK_NOT_AVAILABLE.has(sqlState(error))) return undefined;
    throw error;
  }
}

const LIST_RELEASED_COPIES = sql(
  `select account, idempotency_key as key, event_id, request_mac from released_copy limit ${BATCH}`,
  [],
  {
    account: "text",
    key: "text",
    event_id: "uuid",
    /** Null if the event is erased: then its tombstone has the MAC. */
    request_mac: "bytea?",
  },
);

const DELETE_RELEASED_COPIES = sql("select delete_released_copies($1::uuid[])", ["uuid[]"]);

/**
 * Deletes copies that no hold covers any more. Their idempotency keys become tombstones, and existing tombstones are
 * renewed, so that the replay window begins when the last copy is deleted.
 */
async function releaseCopies(connection: Connection, { pseudonymizer, signal }: ExpiryOptions): Promise<void> {
  for (;;) {
    if (signal?.aborted) return;
    const { rows } = await query(connection, LIST_RELEASED_COPIES);
    if (rows.length === 0) return;
    const ledger = rows.flatMap((row) => (row.request_mac ? [{ ...row, request_mac: row.request_mac }] : []));
    await insertTombstones(connection, pseudonymizer, ledger);
    await renewTombstones(connection, pseudonymizer, rows);
    // From here on, every commit batch sees the tombstones.
    if (ledger.length > 0) await inTransactionOn(connection, excludeIngestion);
    const ids = rows.map(({ event_id }) => event_id);
    const deleted = await unlessLocked(() => query(connection, DELETE_RELEASED_COPIES, [ids]));
    if (!deleted || rows.length < BATCH || (await isMaintenanceLockAwaited(connection))) return;
  }
}

const DROPPED = `${PARTITION_COLUMNS}, (partition_id || later_secrets)::text[] as secrets,
  dropped_at + $1::interval > transaction_time() as is_recent`;
const DROPPED_TYPES = { ...PARTITION_TYPES, secrets: "text[]", is_recent: "bool" } as const;
const listDropped = (from: string) =>
  sql(
    `select ${DROPPED} ${from} where dropped_at is not null and secret_destroyed_at is null`,
    ["interval"],
    DROPPED_TYPES,
  );
const LIST_DROPPED_PARTITIONS = listDropped("from event_partition p");
const LIST_DROPPED_FEATURE_PARTITIONS = listDropped("from feature_partition p");

const RECORD_DESTROYED_SECRET = sql("select record_destroyed_secret($1)", ["uuid"]);

/**
 * Destroys the secrets of dropped partitions, after the drop is durable: a secret that is destroyed before that would
 * be missing if the drop were rolled back.
 */
async function destroySecretsOf(
  executor: Executor,
  { secrets, heldDestructionDelay, signal }: ExpiryOptions,
  dropped: typeof LIST_DROPPED_PARTITIONS,
): Promise<void> {
  const { rows } = await query(executor, dropped, [`${heldDestructionDelay} milliseconds`]);
  for (const { partition_id, secrets: ids, is_recent, ...partition } of rows) {
    if (signal?.aborted) return;
    // guard(false): a standby that lags may lack the copies, and open the events with this secret only
    if (is_recent && (await hasCopies(executor, partition))) continue;
    await destroyForReceipt(executor, secrets, partition_id, ids.map(partitionSecretName));
    await query(executor, RECORD_DESTROYED_SECRET, [partition_id]);
  }
}

const DROP_EXPIRED_FEATURE_PARTITION = sql("select 1 from drop_expired_feature_partition($1)", ["uuid"]);

/**
 * Copies the feature values of held events, and drops partitions of feature values that have expired. If a lock is not
 * available, the next pass tries again. While a partition waits for copies of held events, all its other values are
 * deleted.
 */
async function dropFeaturePartitions(connection: Connection, options: ExpiryOptions): Promise<void> {
  const { rows } = await query(connection, LIST_EXPIRED_FEATURE_PARTITIONS);
  await dropEach(rows, async (partition) => {
    if (options.signal?.aborted) return;
    const drop = async (transaction: Transaction): Promise<boolean> => {
      await lockHolds(transaction);
      await copyFeaturesOfPartition(transaction, options, partition);
      return (await query(transaction, DROP_EXPIRED_FEATURE_PARTITION, [partition.partition_id])).rowCount === 1;
    };
    // One transaction copies and drops. If reads found the copies and the partition together, they would show values
    // twice.
    const isDropped = await unlessLocked(() =>
      inTransactionOn(connection, drop, (isDone) => (isDone ? "commit" : "rollback")),
    );
    if (isDropped !== false) return;
    const values = [partition.partition_id, BATCH] as const;
    await inBatches(connection, () => query(connection, DELETE_EXPIRED_FEATURES, values), options.signal);
  });
}

const destroyPartitionSecrets = (executor: Executor, options: ExpiryOptions): Promise<void> =>
  destroySecretsOf(executor, options, LIST_DROPPED_PARTITIONS);

const destroyFeatureSecrets = (executor: Executor, options: ExpiryOptions): Promise<void> =>
  destroySecretsOf(executor, options, LIST_DROPPED_FEATURE_PARTITIONS);

const LIST_PARTITIONS_OF_EXPIRED_KEYS = sql(
  `select partition_id from event_partition
    where idempotency_keys_deleted_at is null and dropped_at + $1::interval <= transaction_time()`,
  ["interval"],
  { partition_id: "uuid" },
);

async function deleteIdempotencyKeys(
  executor: Executor,
  { pseudonymizer, replayWindow, signal }: ExpiryOptions,
): Promise<void> {
  const window = `${replayWindow} milliseconds`;
  const { rows } = await query(executor, LIST_PARTITIONS_OF_EXPIRED_KEYS, [window]);
  for (const { partition_id } of rows) {
    await inBatches(executor, () => query(executor, DELETE_IDEMPOTENCY_KEYS, [partition_id, window, BATCH]), signal);
  }
  await renewHeldTombstones(executor, pseudonymizer, window);
  await deleteAfter(executor, DELETE_EXPIRED_TOMBSTONES, replayWindow, signal);
}

/** @param period in milliseconds. */
const deleteAfter = (
  executor: Executor,
  call: typeof DELETE_EXPIRED_TOMBSTONES,
  period: number,
  signal: AbortSignal | undefined,
): Promise<void> => inBatches(executor, () => query(executor, call, [`${period} milliseconds`, BATCH]), signal);

const deleteSessions = (executor: Executor, { signal }: ExpiryOptions): Promise<void> =>
  inBatches(executor, () => query(executor, DELETE_EXPIRED_SESSIONS, [BATCH]), signal);

const destroyReasons = (
  connection: Connection,
  { audit, auditReasonRetention, signal }: ExpiryOptions,
): Promise<void> => destroyAuditSecrets(connection, audit, { retentionMs: auditReasonRetention, signal });
