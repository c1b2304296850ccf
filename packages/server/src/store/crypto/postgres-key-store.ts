import type pg from "pg";
import { Unavailable } from "../../base/ports.ts";
import { type DatabaseOptions, inTransaction, openPool } from "../postgres/database.ts";
import { type ParametersOf, query, sql, type Statement } from "../postgres/statement.ts";
import { requireSettings, sessionOptions } from "../postgres/session-settings.ts";
import { lockTransaction } from "../postgres/advisory-locks.ts";
import { LOCKS } from "../postgres/locks.ts";
import { asUnusable } from "../postgres/errors.ts";
import { requireWritable } from "../postgres/require-writable.ts";
import { byteaArray, textArray } from "../postgres/binary-array.ts";
import { MicroBatcher } from "../postgres/micro-batcher.ts";
import { type KeyStore, requireSecretId } from "./key-store.ts";

/** Maximum number of secrets that one statement creates. */
const MAX_CREATED_TOGETHER = 64;

const SCHEMA = `
  create schema if not exists drs_keys;
  create table if not exists drs_keys.secret (
    id text primary key check (id ~ '^[0-9a-f]{64}$'),
    wrapped bytea not null,
    created_at timestamptz not null default now()
  );
  create table if not exists drs_keys.destroyed_secret (
    id text primary key check (id ~ '^[0-9a-f]{64}$'),
    destroyed_at timestamptz not null default now()
  );
  create table if not exists drs_keys.mark (
    name text primary key,
    mark text not null
  )`;

const READ_SECRET = sql("select wrapped from drs_keys.secret where id = $1", ["text"], { wrapped: "bytea" });
const READ_MANY = sql("select id, wrapped from drs_keys.secret where id = any ($1::text[])", ["text[]"], {
  id: "text",
  wrapped: "bytea",
});
const IS_PREPARED = sql("select where to_regclass('drs_keys.destroyed_secret') is not null");
const DESTROY_SECRET = sql(
  `with recorded as (insert into drs_keys.destroyed_secret (id) values ($1) on conflict do nothing)
        delete from drs_keys.secret where id = $1`,
  ["text"],
);
const DISCARD_SECRET = sql("delete from drs_keys.secret where id = $1", ["text"]);
const REPLACE_SECRETS = sql(
  `update drs_keys.secret s set wrapped = n.wrapped from unnest($1::text[], $2::bytea[], $3::bytea[]) n (id, existing, wrapped)
    where s.id = n.id and s.wrapped = n.existing`,
  ["text[]", "bytea[]", "bytea[]"],
);
const FIND_MISSING = sql(
  `select id from unnest($1::text[]) as asked (id)
        where not exists (select 1 from drs_keys.secret s where s.id = asked.id)`,
  ["text[]"],
  { id: "text" },
);
const FIND_DESTROYED = sql("select id from drs_keys.destroyed_secret where id = any ($1::text[])", ["text[]"], {
  id: "text",
});
const LIST_IDS = sql("select id from drs_keys.secret where id > $1 order by id limit 1000", ["text"], { id: "text" });
const READ_WATERMARK = sql("select mark from drs_keys.mark where name = $1", ["text"], { mark: "text" });
const WRITE_WATERMARK = sql(
  "insert into drs_keys.mark (name, mark) values ($1, $2) on conflict (name) do update set mark = $2",
  ["text", "text"],
);
const INSERT_SECRETS = sql(
  `insert into drs_keys.secret (id, wrapped) select id, wrapped from unnest($1::text[], $2::bytea[]) as made (id, wrapped)
    order by id on conflict do nothing returning id, wrapped`,
  ["text[]", "bytea[]"],
  { id: "text", wrapped: "bytea" },
);

async function prepare(pool: pg.Pool): Promise<void> {
  await requireSettings(pool);
  if ((await query(pool, IS_PREPARED)).rowCount === 1) return;
  await inTransaction(pool, async (executor) => {
    await lockTransaction(executor, LOCKS.keyStoreSchema);
    await executor.query(SCHEMA);
  });
}

interface NewSecret {
  readonly id: string;
  readonly wrapped: Buffer;
}

/**
 * Keeps secrets in a PostgreSQL that is not the events' database.
 * @param isReadOnly whether nothing is written and no table is made.
 */
export async function postgresKeyStore(database: DatabaseOptions, isReadOnly = false): Promise<KeyStore> {
  const options = sessionOptions({ isReadOnly });
  const pool = openPool({ ...database, options }, { max: 4, onError: () => {} });
  const unavailable = (error: unknown): never => {
    throw asUnusable(error, "key database", database);
  };
  const run = <Values extends readonly unknown[], Row>(
    statement: Statement<Values, Row>,
    ...values: ParametersOf<Values>
  ): Promise<pg.QueryResult<Row & object>> => query(pool, statement, ...values).catch(unavailable);
  const readToOpen = async (ids: readonly string[]): Promise<Map<string, Buffer>> =>
    new Map((await run(READ_MANY, [ids])).rows.map(({ id, wrapped }) => [id, wrapped]));

  async function createAll(secrets: readonly NewSecret[]): Promise<readonly (Buffer | undefined)[]> {
    const values = [textArray(secrets.map(({ id }) => id)), byteaArray(secrets.map(({ wrapped }) => wrapped))] as const;
    const stored = new Map((await run(INSERT_SECRETS, values)).rows.map(({ id, wrapped }) => [id, wrapped]));
    const others = secrets.map(({ id }) => id).filter((id) => !stored.has(id));
    const earlier = others.length > 0 ? await readToOpen(others) : stored;
    return secrets.map(({ id }) => stored.get(id) ?? earlier.get(id));
  }

  const creations = new MicroBatcher({ work: createAll, maxItems: MAX_CREATED_TOGETHER, parallelBatches: 2 });
  if (!isReadOnly) {
    await prepare(pool).catch(async (error: unknown) => {
      await pool.end();
      return unavailable(error);
    });
  }
  return {
    async read(id) {
      return (await run(READ_SECRET, [id])).rows[0]?.wrapped;
    },
    readToOpen,
    async destroy(id) {
      await run(DESTROY_SECRET, [id]);
    },
    async discard(id) {
      await run(DISCARD_SECRET, [id]);
    },
    async replace(wrappings) {
      const values = [
        wrappings.map(({ id }) => id),
        wrappings.map(({ existing }) => existing),
        wrappings.map(({ wrapped }) => wrapped),
      ] as const;
      return (await run(REPLACE_SECRETS, values)).rowCount ?? 0;
    },
    async findMissing(ids) {
      return (await run(FIND_MISSING, [ids])).rows.map(({ id }) => id);
    },
    async findDestroyed(ids) {
      return (await run(FIND_DESTROYED, [ids])).rows.map(({ id }) => id);
    },
    async *ids() {
      for (let last = ""; ;) {
        const ids = (await run(LIST_IDS, [last])).rows.map(({ id }) => id);
        yield ids;
        last = ids.at(-1) ?? "";
        if (last === "") return;
      }
    },
    async readWatermark(name) {
      return (await run(READ_WATERMARK, [name])).rows[0]?.mark;
    },
    async writeWatermark(name, mark) {
      await run(WRITE_WATERMARK, [name, mark]);
    },
    async create(id, wrapped) {
      requireSecretId(id);
      const stored = await creations.add({ id, wrapped });
      if (!stored) throw new Unavailable("a secret vanished while it was read");
      return stored;
    },
    requireWritable: () => requireWritable(pool).catch(unavailable),
    description: "PostgreSQL (DRS_KEY_DATABASE_URL)",
    async close() {
      await pool.end();
    },
  };
}
