/**
 * Audit secrets as rows. A login of the database can insert rows, but it can't compute the ids of secrets. The server
 * finds its secrets by their ids, and neither uses nor ends any other row.
 */
import { findNumbered, type NumberedIds } from "../store/crypto/numbered-ids.ts";
import { isIdFree } from "../store/postgres/advisory-locks.ts";
import type { Executor, OwnerTransaction } from "../store/postgres/executor.ts";
import { query, type RowOf, sql } from "../store/postgres/statement.ts";

/** Number of ids that a statement looks up. An account usually has one secret more than it had erasures. */
const LOOKED_UP = 16;
/** Maximum number of expired secrets that a statement reads. */
const PAGE = 100;

export const FIND_SECRETS = sql(
  `select secret_id, ended_at is not null as is_ended, subject is not distinct from $2 as is_own from audit_secret
    where secret_id = any ($1)`,
  ["uuid[]", "bytea?"],
  { secret_id: "uuid", is_ended: "bool", is_own: "bool" },
);
type FoundSecret = RowOf<{ readonly secret_id: "uuid"; readonly is_ended: "bool"; readonly is_own: "bool" }>;

interface FoundSecrets {
  readonly secrets: readonly FoundSecret[];
  /** The first number without a row. */
  readonly next: number;
}

/**
 * Finds the secrets of an account, or of the installation, in the order of their numbers. After a restore, a login of
 * the database can insert rows with the ids of lost rows and with another account. Such rows are skipped, and the
 * search continues after them.
 */
export async function findSecrets(
  executor: Executor,
  ids: NumberedIds,
  subject: Buffer | undefined,
): Promise<FoundSecrets> {
  const foundRows = await findNumbered({
    ids,
    page: LOOKED_UP,
    find: async (page) => (await query(executor, FIND_SECRETS, [page, subject ?? null])).rows,
    idOf: ({ secret_id }) => secret_id,
  });
  const secrets = foundRows.flatMap(({ row }) => {
    // guard(true): the server uses no secret of another account
    return row.is_own ? [row] : [];
  });
  return { secrets, next: (foundRows.at(-1)?.number ?? -1) + 1 };
}

const INSERT = sql(
  `insert into audit_secret (secret_id, subject)
    select $1::uuid, $2::bytea
      -- guard(true): an entry does not wait for a transaction that writes about the same account
      where ${isIdFree("$1")}
    on conflict (secret_id) do nothing`,
  ["uuid", "bytea?"],
);

/** @returns `false` if another transaction has inserted a row with this id, or is inserting one. */
export async function insertSecret(
  executor: Executor,
  secretId: string,
  subject: Buffer | undefined,
): Promise<boolean> {
  return (await query(executor, INSERT, [secretId, subject ?? null])).rowCount === 1;
}

const END = sql("update audit_secret set ended_at = $2 where secret_id = any ($1) and ended_at is null", [
  "uuid[]",
  "timestamptz",
]);

/** @param at the time of the erasure, in RFC 3339. */
export async function endSecrets(owner: OwnerTransaction, secretIds: readonly string[], at: string): Promise<void> {
  await query(owner, END, [secretIds, at]);
}

/**
 * The time and the id of the last secret of a page. The time is PostgreSQL's text, because a `Date` has no
 * microseconds.
 */
export type After = readonly [endedAt: string, secretId: string];
export const START: After = ["-infinity", "00000000-0000-0000-0000-000000000000"];

const LIST_EXPIRED = sql(
  `select secret_id, subject, ended_at::text as position from audit_secret
    where destroyed_at is null
      -- guard(true): a reason is readable for a time after the erasure of its account
      and ended_at <= transaction_time() - $1::interval
      and (ended_at, secret_id) > ($2, $3)
    order by ended_at, secret_id limit ${PAGE}`,
  ["interval", "timestamptz", "uuid"],
  { secret_id: "uuid", subject: "bytea?", position: "text" },
);
export type ExpiredSecret = RowOf<{
  readonly secret_id: "uuid";
  readonly subject: "bytea?";
  readonly position: "text";
}>;

/**
 * Reads a page of the secrets that ended at least `retentionMs` ago and are not destroyed, in the order of their ends.
 */
export async function listExpired(
  executor: Executor,
  retentionMs: number,
  after: After,
): Promise<readonly ExpiredSecret[]> {
  return (await query(executor, LIST_EXPIRED, [`${retentionMs} milliseconds`, ...after])).rows;
}

const RECORD_DESTROYED = sql("select record_destroyed_audit_secret($1)", ["uuid"]);

export async function recordDestroyed(executor: Executor, secretId: string): Promise<void> {
  await query(executor, RECORD_DESTROYED, [secretId]);
}
