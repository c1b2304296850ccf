/** Backups that somebody has recorded: the server takes none, and knows of no other. */
import type { BackupStore } from "@device-risk-signals/admin-api";
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { narrowed, query, queryRow, sql } from "../../store/postgres/statement.ts";

export interface TakenBackup {
  readonly store: BackupStore;
  /** When the backup began; RFC 3339. */
  readonly taken_at: string;
}

/** Number of backups of a store that are kept. Only the latest ones count. */
const KEPT = 1_000;

const INSERT = sql(
  `insert into recorded_backup (store, taken_at, recorded_by) values ($1, $2, $3)
    on conflict (store, taken_at) do nothing`,
  ["text", "timestamptz", "text"],
);
const DELETE_OLD = sql(
  `delete from recorded_backup where store = $1 and taken_at <=
    (select taken_at from recorded_backup where store = $1 order by taken_at desc offset ${KEPT} limit 1)`,
  ["text"],
);

/** @returns whether the backup was not recorded before. */
export async function insertBackup(
  owner: OwnerTransaction,
  { store, taken_at, actor }: TakenBackup & { readonly actor: string },
): Promise<boolean> {
  const { rowCount } = await query(owner, INSERT, [store, taken_at, actor]);
  await query(owner, DELETE_OLD, [store]);
  return rowCount === 1;
}

const STORE = narrowed<BackupStore>("text");
const LIST = sql(
  `select store, ${instant("taken_at")}, ${instant("recorded_at")}, recorded_by from recorded_backup b
    where $1::text is null or store = $1 order by b.taken_at desc, store limit $2`,
  ["text?", "int8"],
  { store: STORE, taken_at: "text", recorded_at: "text", recorded_by: "text" },
);

/** Recorded backups, newest first. */
export async function listBackups(executor: Executor, limit: number, store?: BackupStore) {
  return (await query(executor, LIST, [store ?? null, limit])).rows;
}

const LIST_LATEST = sql(
  `select store, ${instant("taken_at")} from (
      select store, taken_at, row_number() over (partition by store order by taken_at desc) as place from recorded_backup
        where taken_at <= $1) b
    where place <= $2 order by b.taken_at desc`,
  ["timestamptz", "int8"],
  { store: STORE, taken_at: "text" },
);

/** The latest backups of each store that began by a time, newest first. @param count maximum number for each store. */
export async function listLatestBackups(
  executor: Executor,
  until: number,
  count: number,
): Promise<readonly TakenBackup[]> {
  return (await query(executor, LIST_LATEST, [new Date(until).toISOString(), count])).rows;
}

const CREATED_AT = sql(
  "select (extract(epoch from created_at) * 1000)::float8 as created_at, (extract(epoch from wall_clock_time()) * 1000)::float8 as now from installation",
  [],
  { created_at: "float8", now: "float8" },
);

/** The time of the installation's creation, and the database's time; both in milliseconds. */
export async function readInstallationTimes(executor: Executor) {
  return queryRow(executor, CREATED_AT);
}
