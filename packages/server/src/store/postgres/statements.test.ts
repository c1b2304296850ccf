/** Tests that each declared statement has the parameters and columns that PostgreSQL reports for the migrated schema. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "../../../../../e2e/support/database.ts";
import { postgresKeyStore } from "../crypto/postgres-key-store.ts";
import { postgresJournal } from "../../lifecycle/journal/postgres-journal.ts";
import { SERVER, sourceFiles } from "../../../../../tools/boundaries/imports.ts";
import { type Described, createStatementDescriber } from "./describe-statement.fixture.ts";
import { COPIES } from "./copy-in.ts";
import { composed, sql, type Statement, STATEMENTS } from "./statement.ts";

const DECLARES = /\/statement\.ts"/;

let database: TestDatabase;
let owner: OwnerClient;
let describeStatement: (text: string) => Promise<Described>;

beforeAll(async () => {
  database = await sharedDatabase();
  const environment = await database.environment();
  owner = await connectAsOwner(environment);
  describeStatement = await createStatementDescriber(owner);
  const options = { connectionString: environment["DRS_DATABASE_URL"] };
  for (const store of [await postgresKeyStore(options), await postgresJournal(options)]) await store.close();
  for (const file of sourceFiles()) {
    if (DECLARES.test(readFileSync(join(SERVER, file), "utf8"))) await import(join(SERVER, file));
  }
});

afterAll(async () => {
  await owner?.end();
  await database?.close();
});

/** Removes the `?` of a type that may be null, because PostgreSQL does not report whether an expression may be null. */
const typeName = (type: string): string => type.replace(/\?$/, "");

/** Describes where PostgreSQL differs from a statement's declaration, or returns `undefined`. */
async function mismatchOf({ text, parameters, columns }: Statement<readonly unknown[], unknown>): Promise<unknown> {
  const described = await describeStatement(text).catch((error: unknown) => ({ error: String(error) }));
  if ("error" in described) return { text, ...described };
  const given = described.parameters.slice(0, parameters.length);
  const declared = {
    parameters: parameters.map(typeName),
    columns: Object.fromEntries(
      Object.entries(columns ?? {}).map(([name, of]) => [name, typeName(typeof of === "string" ? of : of.type)]),
    ),
  };
  const actual = { parameters: given, columns: columns ? described.columns : {} };
  const order = (value: Readonly<Record<string, string>>): string => JSON.stringify(Object.entries(value).toSorted());
  const isSame =
    JSON.stringify(declared.parameters) === JSON.stringify(actual.parameters) &&
    order(declared.columns) === order(actual.columns);
  return isSame ? undefined : { text, declared, actual };
}

test("statements have the parameters and columns that they declare", async () => {
  const mismatches: unknown[] = [];
  for (const statement of STATEMENTS) mismatches.push(await mismatchOf(statement));
  expect(mismatches.filter((mismatch) => mismatch !== undefined)).toEqual([]);
  expect(STATEMENTS.length).toBeGreaterThan(150);
});

test("rows are copied with all columns of a table, in their types", async () => {
  for (const { text, columns } of COPIES) {
    const [, table] = /^copy (\w+) /.exec(text) ?? [];
    const { rows } = await owner.query(
      "select attname as name, atttypid::int4 as oid from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum",
      [table],
    );
    expect(columns.map(({ name, oid }) => ({ name, oid }))).toEqual(rows);
  }
  expect(COPIES.length).toBeGreaterThan(0);
});

test("a statement that declares another type, column or parameter is found", async () => {
  const wrong: Statement<readonly unknown[], unknown>[] = [
    sql("select version from policy", [], { version: "text" }),
    sql("select version from policy", [], { versions: "int4" }),
    sql("select version from policy where version = $1", ["text"], { version: "int4" }),
    sql("select no_such_column from policy"),
  ];
  composed(() => ({ text: "select from no_such_table", values: [] }), {}, [[]]);
  wrong.push(...STATEMENTS.slice(-1));
  for (const statement of wrong) expect(await mismatchOf(statement), statement.text).toBeDefined();
});
