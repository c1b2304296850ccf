import { Unavailable } from "../ports.ts";
import { type DatabaseOptions, inTransaction, openPool, READ_ONLY } from "../postgres/database.ts";
import { asUnusable } from "../postgres/errors.ts";
import type { KeyStore } from "./key-store.ts";

const LOCK = 7_236_516;

const SCHEMA = `
  create schema if not exists drs_keys;
  create table if not exists drs_keys.secret (
    id text primary key check (id ~ '^[0-9a-f]{64}$'),
    wrapped bytea not null,
    created_at timestamptz not null default now()
  );
  create table if not exists drs_keys.mark (
    name text primary key,
    mark text not null
  )`;

/**
 * Secrets in a PostgreSQL that is not the one of the events.
 * @param isReadOnly nothing is written, and no table is made.
 */
export async function postgresKeyStore(database: DatabaseOptions, isReadOnly = false): Promise<KeyStore> {
  const options = isReadOnly ? READ_ONLY : "-c synchronous_commit=on";
  const pool = openPool({ ...database, options }, { max: 4, onError: () => {} });
  const unavailable = (error: unknown): never => {
    throw asUnusable(error, "key database");
  };
  const query = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await pool.query<Row>(text, values).catch(unavailable)).rows;
  const read = async (id: string): Promise<Buffer | undefined> => {
    const [row] = await query<{ wrapped: Buffer }>("select wrapped from drs_keys.secret where id = $1", [id]);
    return row?.wrapped;
  };
  const prepare = async (): Promise<void> => {
    const prepared = await query("select where to_regclass('drs_keys.mark') is not null");
    if (prepared.length > 0) return;
    await inTransaction(pool, async (executor) => {
      await executor.query("select pg_advisory_xact_lock($1)", [LOCK]);
      await executor.query(SCHEMA);
    }).catch(unavailable);
  };
  if (!isReadOnly) {
    await prepare().catch(async (error: unknown) => {
      await pool.end();
      throw error;
    });
  }
  return {
    read,
    async destroy(id) {
      await query("delete from drs_keys.secret where id = $1", [id]);
    },
    async replace(id, standing, wrapped) {
      const text = "update drs_keys.secret set wrapped = $3 where id = $1 and wrapped = $2 returning wrapped";
      return (await query(text, [id, standing, wrapped])).length === 1;
    },
    async findMissing(ids) {
      const text = `select id from unnest($1::text[]) as asked (id)
        where not exists (select from drs_keys.secret s where s.id = asked.id)`;
      return (await query<{ id: string }>(text, [ids])).map(({ id }) => id);
    },
    async *ids() {
      const page = "select id from drs_keys.secret where id > $1 order by id limit 1000";
      for (let last = ""; ;) {
        const ids = (await query<{ id: string }>(page, [last])).map(({ id }) => id);
        yield ids;
        last = ids.at(-1) ?? "";
        if (last === "") return;
      }
    },
    async readWatermark(name) {
      const [row] = await query<{ mark: string }>("select mark from drs_keys.mark where name = $1", [name]);
      return row?.mark;
    },
    async writeWatermark(name, mark) {
      const text = "insert into drs_keys.mark (name, mark) values ($1, $2) on conflict (name) do update set mark = $2";
      await query(text, [name, mark]);
    },
    async create(id, wrapped) {
      const insert = "insert into drs_keys.secret (id, wrapped) values ($1, $2) on conflict do nothing";
      await query(insert, [id, wrapped]);
      const standing = await read(id);
      if (!standing) throw new Unavailable("a secret vanished while it was read");
      return standing;
    },
    description: "PostgreSQL (DRS_KEY_DATABASE_URL)",
    async close() {
      await pool.end();
    },
  };
}
