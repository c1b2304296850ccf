/**
 * The ids of accounts and of their keys, by which erasures name accounts and keys; and the accounts whose later events
 * are rejected.
 */
import type { Executor, OwnerTransaction } from "../postgres/executor.ts";
import { query, sql } from "../postgres/statement.ts";

const ENSURE_ACCOUNT_ID = sql("insert into account_identity (account) values ($1) on conflict do nothing", ["text"]);

/** Gives an account a random id, if it has none. */
export async function ensureAccountId(executor: Executor, account: string): Promise<void> {
  await query(executor, ENSURE_ACCOUNT_ID, [account]);
}

const ENSURE_FORMER_ACCOUNT_ID = sql(
  "insert into account_identity (account, account_id, created_at) values ($1, gen_random_uuid(), $2) on conflict do nothing",
  ["text", "timestamptz"],
);

/**
 * Gives an account a random id, if it has none, with an earlier time of creation. @param at a time in RFC 3339 at which
 * the account existed.
 */
export async function ensureFormerAccountId(executor: OwnerTransaction, account: string, at: string): Promise<void> {
  await query(executor, ENSURE_FORMER_ACCOUNT_ID, [account, at]);
}

const FIND_ACCOUNT_ID = sql(
  `select account_id from account_identity
    where account = $1 and ($2::timestamptz is null or created_at <= $2)`,
  ["text", "timestamptz?"],
  { account_id: "uuid" },
);

/** @param until a time in RFC 3339; an id that was created later is not found. */
export async function findAccountId(executor: Executor, account: string, until?: string): Promise<string | undefined> {
  return (await query(executor, FIND_ACCOUNT_ID, [account, until ?? null])).rows[0]?.account_id;
}

// guard(no-rows): the name of the account is deleted
const DELETE_ACCOUNT_ID = sql("delete from account_identity where account_id = $1 returning account", ["uuid"], {
  account: "text",
});

/** @returns the account that had the id; `undefined` if the id does not exist. */
export async function deleteAccountId(executor: OwnerTransaction, accountId: string): Promise<string | undefined> {
  return (await query(executor, DELETE_ACCOUNT_ID, [accountId])).rows[0]?.account;
}

const FIND_KEY_IDS = sql(
  `select key_id from account_key
    where account = $1 and ($2::integer is null or purpose = $2) and erased_by is null
      and ($3::timestamptz is null or created_at <= $3)`,
  ["text", "int4?", "timestamptz?"],
  { key_id: "uuid" },
);

/**
 * Ids of the keys of an account that are not erased, for one purpose or for all.
 * @param until a time in RFC 3339; a key that was created later is not found.
 */
export async function findKeyIds(
  executor: Executor,
  account: string,
  purpose?: number,
  until?: string,
): Promise<string[]> {
  const { rows } = await query(executor, FIND_KEY_IDS, [account, purpose ?? null, until ?? null]);
  return rows.map(({ key_id }) => key_id);
}

const MARK_KEYS_ERASED = sql(
  "update account_key set erased_by = $1 where key_id = any ($2::uuid[]) and erased_by is null",
  ["int8", "uuid[]"],
);

/** After the commit no event that is sealed under these keys can be read. */
export async function markKeysErased(
  executor: OwnerTransaction,
  keyIds: readonly string[],
  sequence: number,
): Promise<void> {
  await query(executor, MARK_KEYS_ERASED, [sequence, keyIds]);
}

const IS_ACCOUNT_REFUSED = sql("select 1 from refused_account where account_mac = $1", ["bytea"]);

/** Whether later events of an account are refused. @param mac its keyed MAC. */
export async function isAccountRefused(executor: Executor, mac: Buffer): Promise<boolean> {
  return (await query(executor, IS_ACCOUNT_REFUSED, [mac])).rowCount === 1;
}

const REFUSE_ACCOUNT = sql(
  "insert into refused_account (account_mac, sequence) values ($1, $2) on conflict do nothing",
  ["bytea", "int8"],
);

/** From the commit on, rejects later events of an account. @param mac its keyed MAC. */
export async function refuseAccount(executor: OwnerTransaction, mac: Buffer, sequence: number): Promise<void> {
  await query(executor, REFUSE_ACCOUNT, [mac, sequence]);
}

const FIND_KNOWN = sql(
  "select distinct account from account_key where account = any ($1::text[]) and erased_by is null",
  ["text[]"],
  { account: "text" },
);

/** Returns the accounts of the list that have a key. An account has a key from its first event until its erasure. */
export async function findKnownAccounts(executor: Executor, accounts: readonly string[]): Promise<ReadonlySet<string>> {
  if (accounts.length === 0) return new Set();
  return new Set((await query(executor, FIND_KNOWN, [accounts])).rows.map(({ account }) => account));
}
