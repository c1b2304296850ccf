/**
 * Reads Parquet with DuckDB: a file of the server's writer with every type, the export of 5,000 labels that
 * `drs export run` writes in `e2e/data-scientist.test.ts`, and one with all events by the SQL of `docs/exports/duckdb.md`.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { createTableWriter } from "../../packages/server/src/features/exports/table-writer.ts";

/** @typedef {import("../../packages/server/src/features/exports/table.ts").TableColumn} TableColumn */

/** @type {(name: string, type: TableColumn["type"], unit?: string | null) => TableColumn} */
function column(name, type, unit = null) {
  const feature = name.replace("__v", "@");
  return {
    name,
    feature,
    hash: "00",
    meaning: "An example",
    type,
    unit,
    false_readings: ["None is known"],
    inputs: [],
  };
}
/** @type {import("../../packages/server/src/features/exports/table.ts").TableHead} */
const HEAD = {
  export_id: "6f0c1f0e-2f0e-4d0e-8f0e-1f0e2f0e3f0e",
  expires_on: "2027-01-31",
  hasHistory: true,
  attributes: ["app_version"],
  columns: [
    column("root__v1", "flag"),
    column("traces__v2", "count"),
    column("speed__v1", "number", "ms"),
    column("kind__v1", "category"),
  ],
};
const CATEGORIES = ["kind__v1", ...HEAD.columns.map(({ name }) => `${name}__state`)].toSorted((a, b) =>
  a < b ? -1 : 1,
);
/** The number of rows is large enough for more than one row group. */
const ROWS = 6_000;
const VALUES = [true, 9_007_199_254_740_991, -1.5, "é"];

/** @param {number} row */
function rowOf(row) {
  const isFound = row % 3 !== 0;
  const at = isFound ? "2026-01-01T00:00:00.000001Z" : null;
  const labelAt = { epochMs: Date.parse("2026-01-01T23:00:00Z"), micros: 2 };
  const cells = VALUES.map((value) =>
    isFound ? { value, state: "observed" } : { value: null, state: "not-observed" },
  );
  const label = { labelTime: "2026-01-02 00:00:00.000002+01:00", labelAt, label: `label ${row}` };
  const attributes = [isFound ? "7.1.0" : null];
  return { row, event: isFound ? 1 : null, ...label, receivedAt: at, extractedAt: at, attributes, cells };
}

/** @type {(path: string, rows: ReturnType<typeof rowOf>[]) => Promise<void>} */
async function write(path, rows) {
  const file = await open(path, "wx");
  const writer = await createTableWriter("parquet", HEAD, (bytes) => file.appendFile(bytes));
  await writer.write(rows);
  await writer.end();
  await file.close();
}

const folder = await mkdtemp(join(tmpdir(), "drs-parquet-"));
try {
  const path = join(folder, "export.parquet");
  await write(
    path,
    Array.from({ length: ROWS }, (_, index) => rowOf(index + 1)),
  );
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  /** @param {string} sql */
  const ask = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();
  assert.deepEqual(await ask(`select column_name, column_type from (describe select * from '${path}')`), [
    ["row", "BIGINT"],
    ["event", "BIGINT"],
    ["label_time", "TIMESTAMP WITH TIME ZONE"],
    ["label", "VARCHAR"],
    ["received_at", "TIMESTAMP WITH TIME ZONE"],
    ["extracted_at", "TIMESTAMP WITH TIME ZONE"],
    ["app_version", "VARCHAR"],
    ["root__v1", "BOOLEAN"],
    ["root__v1__state", "VARCHAR"],
    ["traces__v2", "BIGINT"],
    ["traces__v2__state", "VARCHAR"],
    ["speed__v1", "DOUBLE"],
    ["speed__v1__state", "VARCHAR"],
    ["kind__v1", "VARCHAR"],
    ["kind__v1__state", "VARCHAR"],
  ]);
  const states = `select root__v1__state, count(*), count(root__v1), sum(traces__v2 - 9007199254740990), min(speed__v1),
    max(kind__v1) from '${path}' group by all order by all desc`;
  assert.deepEqual(await ask(states), [
    ["observed", "4000", "4000", "4000", -1.5, "é"],
    ["not-observed", "2000", "0", null, null, null],
  ]);
  const times = `select epoch_us(label_time), epoch_us(received_at), epoch_us(extracted_at), count(*) from '${path}'
    group by all order by all`;
  assert.deepEqual(await ask(times), [
    ["1767308400000002", "1767225600000001", "1767225600000001", "4000"],
    ["1767308400000002", null, null, "2000"],
  ]);
  const encodings = `select distinct path_in_schema from parquet_metadata('${path}') where contains(encodings, 'RLE_DICTIONARY')
    and path_in_schema in (${CATEGORIES.map((name) => `'${name}'`).join(", ")}) order by all`;
  assert.deepEqual(
    await ask(encodings),
    CATEGORIES.map((name) => [name]),
  );
  const empty = join(folder, "empty.parquet");
  await write(empty, [rowOf(3)]);
  assert.deepEqual(await ask(`select kind__v1, kind__v1__state from '${empty}'`), [[null, "not-observed"]]);
  const metadata = Object.fromEntries(
    await ask(`select decode(key), decode(value) from parquet_kv_metadata('${path}')`),
  );
  assert.deepEqual(metadata, {
    "drs.export_id": HEAD.export_id,
    "drs.expires_on": HEAD.expires_on,
    "drs.columns": JSON.stringify(HEAD.columns),
  });
  const misplaced = `select count(*) from (select row, row_number() over () as place from '${path}') where row <> place`;
  assert.deepEqual(await ask(misplaced), [["0"]]);
  assert.deepEqual(await ask(`select label from '${path}' where row = 5999`), [["label 5999"]]);

  const root = join(import.meta.dirname, "../..");
  const tests = ["e2e/data-scientist.test.ts", "e2e/export-pages.test.ts"];
  const testRun = spawnSync("npx", ["--no", "vitest", "run", ...tests], {
    cwd: root,
    env: { ...process.env, KEEP_EXPORT_IN: folder },
    encoding: "utf8",
  });
  assert.equal(testRun.status, 0, testRun.stdout);
  const expected = JSON.parse(await readFile(join(folder, "expected.json"), "utf8"));
  const exported = `select label, vpn_used__v2, vpn_used__v2__state from '${join(folder, "known.parquet")}'`;
  assert.equal(expected.length, 5_000);
  // The rows are in the order of the file, which is the order of the labels.
  assert.deepEqual(
    await ask(exported),
    expected.map((/** @type {{ label: string, value: unknown, state: string }} */ { label, value, state }) => [
      label,
      value,
      state,
    ]),
  );

  // The SQL of the page names files without a folder.
  process.chdir(folder);
  const page = await readFile(join(root, "docs/exports/duckdb.md"), "utf8");
  for (const [, sql = ""] of page.matchAll(/^```sql\n([^]*?)^```/gm)) await connection.run(sql);
  const windows = JSON.parse(await readFile("windows.json", "utf8"));
  /** @param {object} row */
  const textsOf = (row) => Object.values(row).map((value) => (value === null ? null : String(value)));
  assert.deepEqual((await ask("select * from windows order by row")).map(textsOf), windows.map(textsOf));
} finally {
  await rm(folder, { recursive: true });
}
