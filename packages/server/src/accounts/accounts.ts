/** The ids of accounts and of their keys, by which erasures name them. */
import type { Executor } from "../postgres/database.ts";

/** Gives an account a random id where it has none. */
export async function ensureAccountId(executor: Executor, account: string): Promise<void> {
  await executor.query("insert into account_identity (account) values ($1) on conflict do nothing", [account]);
}

export async function findAccountId(executor: Executor, account: string): Promise<string | undefined> {
  const text = "select account_id from account_identity where account = $1";
  return (await executor.query<{ account_id: string }>(text, [account])).rows[0]?.account_id;
}

/** @returns the account that had the id. */
export async function deleteAccountId(executor: Executor, accountId: string): Promise<string | undefined> {
  // guard(no-rows): the name of the account is deleted
  // fails: e2e/erasure.test.ts › is gone: events
  const text = "delete from account_identity where account_id = $1 returning account";
  return (await executor.query<{ account: string }>(text, [accountId])).rows[0]?.account;
}

/** Ids of the keys that events of an account are sealed under; of all purposes where none is given. */
export async function findKeyIds(executor: Executor, account: string, purpose?: number): Promise<string[]> {
  const text = `select key_id from account_key
    where account = $1 and ($2::integer is null or purpose = $2) and erased_by is null`;
  const { rows } = await executor.query<{ key_id: string }>(text, [account, purpose ?? null]);
  return rows.map(({ key_id }) => key_id);
}

/** From the commit on, no event that is sealed under these keys can be read. */
export async function markKeysErased(executor: Executor, keyIds: readonly string[], sequence: number): Promise<void> {
  const text = "update account_key set erased_by = $1 where key_id = any ($2::uuid[]) and erased_by is null";
  await executor.query(text, [sequence, keyIds]);
}

/** Whether later events of an account are refused. @param mac its keyed MAC. */
export async function isAccountRefused(executor: Executor, mac: Buffer): Promise<boolean> {
  return (await executor.query("select from refused_account where account_mac = $1", [mac])).rowCount === 1;
}

/** Refuses later events of an account. @param mac its keyed MAC. */
export async function refuseAccount(executor: Executor, mac: Buffer, sequence: number): Promise<void> {
  const text = "insert into refused_account (account_mac, sequence) values ($1, $2) on conflict do nothing";
  await executor.query(text, [mac, sequence]);
}
