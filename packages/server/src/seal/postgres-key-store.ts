import { Unavailable } from "../ports.ts";
import { inTransaction, openPool } from "../store/database.ts";
import type { KeyStore } from "./key-store.ts";

const LOCK = 7_236_516;

const SCHEMA = `
  create schema if not exists drs_keys;
  create table if not exists drs_keys.secret (
    name text primary key,
    wrapped bytea not null,
    created_at timestamptz not null default now()
  )`;

/** Secrets in a PostgreSQL that is not the one of the events. */
export async function postgresKeyStore(url: string): Promise<KeyStore> {
  const durable = { options: "-c synchronous_commit=on", connectionTimeoutMillis: 5_000 };
  const pool = openPool({ connectionString: url, ...durable }, { max: 4, onFault: () => {} });
  const query = async (text: string, values: unknown[]): Promise<{ wrapped: Buffer }[]> => {
    try {
      return (await pool.query<{ wrapped: Buffer }>(text, values)).rows;
    } catch (fault) {
      throw new Unavailable("the key database can't be reached", { cause: fault });
    }
  };
  const read = async (name: string): Promise<Buffer | undefined> => {
    const [row] = await query("select wrapped from drs_keys.secret where name = $1", [name]);
    return row?.wrapped;
  };
  const [prepared] = await query("select ''::bytea as wrapped where to_regclass('drs_keys.secret') is not null", []);
  if (!prepared) {
    await inTransaction(pool, async (executor) => {
      await executor.query("select pg_advisory_xact_lock($1)", [LOCK]);
      await executor.query(SCHEMA);
    });
  }
  return {
    read,
    async destroy(name) {
      await query("delete from drs_keys.secret where name = $1", [name]);
    },
    async create(name, wrapped) {
      const insert = "insert into drs_keys.secret (name, wrapped) values ($1, $2) on conflict do nothing";
      await query(insert, [name, wrapped]);
      const standing = await read(name);
      if (!standing) throw new Unavailable("a secret vanished while it was read");
      return standing;
    },
    description: "PostgreSQL (DRS_KEY_DATABASE_URL)",
    async close() {
      await pool.end();
    },
  };
}
