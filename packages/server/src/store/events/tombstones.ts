import { type Pseudonymizer, uuidBytes } from "../crypto/pseudonymizer.ts";
import type { Executor } from "../postgres/executor.ts";
import { BEFORE_ALL, type FullKey } from "./event-row.ts";
import { instant } from "../postgres/instant.ts";
import { query, sql } from "../postgres/statement.ts";

export interface KeyName {
  readonly account: string;
  readonly key: string;
}

export interface LedgerRow extends KeyName {
  readonly event_id: string;
  readonly request_mac: Buffer;
}

const INSERT_TOMBSTONES = sql(
  `insert into tombstone (name_mac, masked_event_id, request_mac)
      select * from unnest($1::bytea[], $2::bytea[], $3::bytea[]) on conflict do nothing`,
  ["bytea[]", "bytea[]", "bytea[]"],
);

export async function insertTombstones(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  rows: readonly LedgerRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await query(executor, INSERT_TOMBSTONES, [
    rows.map(({ account, key }) => pseudonymizer.tombstoneNameOf(account, key)),
    rows.map(({ account, key, event_id }) => pseudonymizer.mask(account, key, uuidBytes(event_id))),
    rows.map(({ request_mac }) => request_mac),
  ]);
}

const FIND_TOMBSTONE = sql(`select ${instant("made_at")} from tombstone where name_mac = $1`, ["bytea"], {
  made_at: "text",
});

/** @returns when the replay window of a tombstone began, in RFC 3339; `undefined` if the key has no tombstone. */
export async function findTombstone(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  { account, key }: KeyName,
): Promise<string | undefined> {
  return (await query(executor, FIND_TOMBSTONE, [pseudonymizer.tombstoneNameOf(account, key)])).rows[0]?.made_at;
}

const RENEW_TOMBSTONES = sql("select renew_tombstones($1::bytea[])", ["bytea[]"]);

/** Restarts the replay window of the tombstones of these keys. */
export async function renewTombstones(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  keys: readonly KeyName[],
): Promise<void> {
  if (keys.length === 0) return;
  await query(executor, RENEW_TOMBSTONES, [
    keys.map(({ account, key }) => pseudonymizer.tombstoneNameOf(account, key)),
  ]);
}

/** Number of copies that are processed together. */
const PAGE_SIZE = 1_000;

const IS_TOMBSTONE_DUE = sql("select 1 from tombstone where made_at + $1::interval <= transaction_time() limit 1", [
  "interval",
]);

const LIST_ERASED_COPIES = sql(
  `select account, purpose, received_at, event_id, idempotency_key as key from held_event
    where erased_by is not null and (account, purpose, received_at, event_id) > ($1, $2, $3, $4)
    order by account, purpose, received_at, event_id limit ${PAGE_SIZE}`,
  ["text", "int4", "timestamptz", "uuid"],
  { account: "text", purpose: "int4", received_at: "timestamptz", event_id: "uuid", key: "text" },
);

/**
 * Renews the tombstones of erased events while a hold keeps a copy of the event, because the tombstone must exist as
 * long as the event or a copy of it. Does nothing if no tombstone's replay window is over.
 * @param window an SQL interval.
 */
export async function renewHeldTombstones(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  window: string,
): Promise<void> {
  if ((await query(executor, IS_TOMBSTONE_DUE, [window])).rowCount === 0) return;
  let last: FullKey = BEFORE_ALL;
  for (;;) {
    const { rows } = await query(executor, LIST_ERASED_COPIES, last);
    await renewTombstones(executor, pseudonymizer, rows);
    const newest = rows.at(-1);
    if (!newest || rows.length < PAGE_SIZE) return;
    last = [newest.account, newest.purpose, newest.received_at, newest.event_id];
  }
}
