/** Tests that PostgreSQL and Citus both run the statements of the server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "../../../../../e2e/support/database.ts";
import { SERVER, sourceFiles } from "../../../../../tools/boundaries/imports.ts";
import { postgresKeyStore } from "../crypto/postgres-key-store.ts";
import { postgresJournal } from "../../lifecycle/journal/postgres-journal.ts";
import { countWrites, listFunctions, type SchemaFunction, writesOf } from "./function-statements.fixture.ts";
import { migrationScriptOf, readSchema, statementsOf } from "./migrate.ts";
import { createLint, isWrite, type Lint, type Rule, RULES } from "./portability.fixture.ts";
import { createTreeReader, nodesOf, type TreeReader } from "./query-tree.fixture.ts";
import { STATEMENTS } from "./statement.ts";

let database: TestDatabase;
let owner: OwnerClient;
let reader: TreeReader;
let lint: Lint;

beforeAll(async () => {
  database = await sharedDatabase();
  const environment = await database.environment();
  owner = await connectAsOwner(environment);
  const options = { connectionString: environment["DRS_DATABASE_URL"] };
  for (const store of [await postgresKeyStore(options), await postgresJournal(options)]) await store.close();
  lint = await createLint(owner);
  reader = await createTreeReader(owner);
  for (const file of sourceFiles()) {
    if (/\/statement\.ts"/.test(readFileSync(join(SERVER, file), "utf8"))) await import(join(SERVER, file));
  }
});

afterAll(async () => {
  await owner?.end();
  await database?.close();
});

const NO_COLUMNS = /\bselect\s+from\b/i;

/** What Citus does not run in a statement. */
async function problemsOf(text: string): Promise<readonly string[]> {
  const rules = (await reader.ofStatement(text)).flatMap(lint).map((rule) => RULES[rule]);
  return [...rules, ...(NO_COLUMNS.test(text) ? ["SELECT without columns: write select 1 from …"] : [])];
}

/** What Citus does not run in a function. */
async function problemsOfFunction(fn: SchemaFunction): Promise<readonly string[]> {
  const trees = await reader.ofFunction(writesOf(fn));
  const writes = trees.flatMap((tree) => nodesOf(tree)).filter(isWrite);
  return [
    ...trees.flatMap(lint).map((rule) => RULES[rule]),
    ...(fn.language === "sql" && fn.arguments !== "" && writes.length > 0
      ? ["a SQL function that writes and has parameters: write it in PL/pgSQL"]
      : []),
    ...(writes.length === countWrites(fn) ? [] : ["a statement that this test can't read: write it without `execute`"]),
  ];
}

async function withProblems<Item>(
  items: readonly Item[],
  find: (item: Item) => Promise<readonly string[]>,
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const item of items) {
    const problems = await find(item);
    if (problems.length > 0) found.push({ item, problems });
  }
  return found;
}

describe("PostgreSQL and Citus both run", () => {
  it("each declared statement", async () => {
    expect(await withProblems(STATEMENTS, ({ text }) => problemsOf(text))).toEqual([]);
  });

  it("each statement of a migration, alone", async () => {
    const statements = statementsOf(migrationScriptOf(await readSchema(), []));
    expect(await withProblems(statements, problemsOf)).toEqual([]);
    expect(statements.length).toBeGreaterThan(400);
  });

  it("each function", async () => {
    const functions = await listFunctions(owner);
    expect(await withProblems(functions, problemsOfFunction)).toEqual([]);
    expect(functions.reduce((count, fn) => count + countWrites(fn), 0)).toBeGreaterThan(40);
  });
});

/** For each rule, a statement that violates it alone, and the form that both run. */
const EXAMPLES: Readonly<Record<Rule, readonly [refused: string, accepted: string]>> = {
  volatile: [
    "update layer set ended_at = (select wall_clock_time() + make_interval(secs => layer))",
    "update layer set ended_at = (select (select wall_clock_time()) + make_interval(secs => layer))",
  ],
  returning: [
    "delete from layer where layer = $1 returning to_char(ended_at, 'YYYY') as year",
    "with t as (delete from layer where layer = $1 returning *) select to_char(ended_at, 'YYYY') as year from t",
  ],
  values: [
    "insert into lost_secret (name, loss_id) values ($1, (select max(loss_id) from secret_loss))",
    `with n as materialized (select max(loss_id) as loss_id from secret_loss)
      insert into lost_secret (name, loss_id) select $1, loss_id from n`,
  ],
  column: [
    "delete from held_event c where received_at = $1 and not is_held(c.account, c.action_id, c.event_id)",
    "delete from held_event c where received_at = $1 and not exists (select 1 from legal_hold h where h.account = c.account)",
  ],
  conditional: [
    "update layer set ended_at = coalesce(ended_at, transaction_time())",
    "update layer set ended_at = coalesce(ended_at, (select transaction_time()))",
  ],
  stable: [
    "insert into journal_entry (sequence, kind, entry_digest) select max(sequence) + 1, 'loss', '' from journal_entry",
    `with n as materialized (select max(sequence) + 1 as sequence from journal_entry)
      insert into journal_entry (sequence, kind, entry_digest) select sequence, 'loss', '' from n`,
  ],
  join: [
    `insert into retention_effect (secret_of) select p.partition_id
      from event_partition p join feature_partition f on f.lower_bound < p.upper_bound`,
    `with n as materialized (select p.partition_id
      from event_partition p join feature_partition f on f.lower_bound < p.upper_bound)
      insert into retention_effect (secret_of) select partition_id from n`,
  ],
  conflict: [
    `insert into tombstone (name_mac, masked_event_id, request_mac) values ($1, $2, $3)
      on conflict (name_mac) do update set made_at = transaction_time()`,
    `insert into tombstone (name_mac, masked_event_id, request_mac) values ($1, $2, $3)
      on conflict (name_mac) do update set made_at = excluded.made_at`,
  ],
};

describe("what Citus does not run is found:", () => {
  it.each(Object.keys(RULES) as Rule[])("%s", async (rule) => {
    const [refused, accepted] = EXAMPLES[rule];
    expect(await problemsOf(refused)).toEqual([RULES[rule]]);
    expect(await problemsOf(accepted)).toEqual([]);
  });

  it("a volatile function", async () => {
    expect(await problemsOf("update layer set ended_at = wall_clock_time()")).toEqual([RULES.volatile]);
    expect(await problemsOf("update layer set ended_at = (select wall_clock_time())")).toEqual([]);
  });

  it("a query without columns", async () => {
    expect(await problemsOf("delete from layer where exists (select from purpose)")).toHaveLength(1);
  });

  it("several statements in one text", async () => {
    await expect(problemsOf("drop table event; drop table purpose")).rejects.toThrow(/multiple commands/);
  });

  it.each<[string, SchemaFunction["language"], string]>([
    [
      "a stable function of a column",
      "plpgsql",
      "declare n bigint; begin delete from event where is_held(account, action_id, event_id); get diagnostics n = row_count; end",
    ],
    ["a volatile function in capitals", "plpgsql", "BEGIN UPDATE layer SET ended_at = wall_clock_time(); END"],
    ["a parameter of a SQL function", "sql", "delete from account_key where key_id = in_key"],
    ["a statement that is composed", "plpgsql", "begin execute format('delete from %I', in_key); end"],
  ])("in a function, %s", async (_, language, body) => {
    expect(await problemsOfFunction({ name: "f", language, arguments: "in_key uuid", body })).toHaveLength(1);
  });
});
