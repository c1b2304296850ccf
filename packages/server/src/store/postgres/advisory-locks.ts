import type { Executor, Transaction } from "./executor.ts";
import { LOCKS } from "./locks.ts";
import { query, queryRow, sql } from "./statement.ts";

export type Lock = (typeof LOCKS)[keyof typeof LOCKS];

const LOCK_SESSION = sql("select pg_advisory_lock($1)", ["int8"]);
const LOCK_SESSION_SHARED = sql("select pg_advisory_lock_shared($1)", ["int8"]);
const TRY_LOCK = sql("select pg_try_advisory_lock($1) as is_locked", ["int8"], { is_locked: "bool" });
const UNLOCK_ALL = sql("select pg_advisory_unlock_all()");
const LOCK_TRANSACTION = sql("select pg_advisory_xact_lock($1)", ["int8"]);
const LOCK_TRANSACTION_NAMED = sql("select pg_advisory_xact_lock($1::int4, hashtext($2))", ["int4", "text"]);
const TRY_LOCK_TRANSACTION_NAMED = sql(
  "select pg_try_advisory_xact_lock($1::int4, hashtext($2)) as is_locked",
  ["int4", "text"],
  { is_locked: "bool" },
);
const LOCK_HOLDS = sql("select lock_holds()");
const LOCK_JOURNAL = sql("select lock_journal()");

/**
 * SQL of the condition that no other transaction is inserting this id. An insert without it would wait for the other
 * transaction, which can belong to the same call.
 * @param id the placeholder of the id.
 */
export const isIdFree = (id: string): string =>
  `pg_try_advisory_xact_lock(${LOCKS.numberedIds}, hashtext(${id}::uuid::text))`;

/** Takes a lock until the end of the session. @param session one connection. */
export async function lockSession(session: Executor, lock: Lock): Promise<void> {
  await query(session, LOCK_SESSION, [lock]);
}

/** Takes a shared lock until the end of the session. */
export async function lockSessionShared(session: Executor, lock: Lock): Promise<void> {
  await query(session, LOCK_SESSION_SHARED, [lock]);
}

/** Takes a lock until the end of the session, if it is free. @returns whether this call took it. */
export async function tryLockSession(session: Executor, lock: Lock): Promise<boolean> {
  return (await query(session, TRY_LOCK, [lock])).rows[0]?.is_locked ?? false;
}

/** Takes a lock until the end of the transaction. */
export async function lockTransaction(transaction: Transaction, lock: Lock): Promise<void> {
  await query(transaction, LOCK_TRANSACTION, [lock]);
}

/** Takes a lock of one name until the end of the transaction. */
export async function lockTransactionNamed(transaction: Transaction, lock: Lock, name: string): Promise<void> {
  await query(transaction, LOCK_TRANSACTION_NAMED, [lock, name]);
}

/** Takes a lock of one name until the end of the transaction, if it is free. @returns whether this call took it. */
export async function tryLockTransactionNamed(transaction: Transaction, lock: Lock, name: string): Promise<boolean> {
  return (await queryRow(transaction, TRY_LOCK_TRANSACTION_NAMED, [lock, name])).is_locked;
}

/** Waits for transactions that place holds, lift them or delete events, and excludes later ones. */
export async function lockHolds(transaction: Transaction): Promise<void> {
  await query(transaction, LOCK_HOLDS);
}

/** Waits for transactions that append to the erasure journal, and excludes later ones. */
export async function lockJournal(transaction: Transaction): Promise<void> {
  await query(transaction, LOCK_JOURNAL);
}

/** Releases all locks of the session. */
export async function unlockSession(session: Executor): Promise<void> {
  await query(session, UNLOCK_ALL);
}
