/**
 * Reads Parquet with DuckDB: a file of the server's writer with every type, and the export of 5,000 labels that
 * `drs export run` writes in `e2e/data-scientist.test.ts`.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { createTableWriter } from "../../packages/server/src/exports/table-writer.ts";

/** @type {readonly import("../../packages/server/src/exports/table-writer.ts").TableColumn[]} */
const COLUMNS = [
  { name: "root__v1", type: "flag" },
  { name: "traces__v2", type: "count" },
  { name: "speed__v1", type: "number" },
  { name: "kind__v1", type: "category" },
];
/** The number of rows is large enough for more than one row group. */
const ROWS = 6_000;
const VALUES = [true, 9_007_199_254_740_991, -1.5, "é"];

/** @param {number} row */
function rowOf(row) {
  const isFound = row % 3 !== 0;
  const at = isFound ? "2026-01-01T00:00:00.000Z" : null;
  const cells = VALUES.map((value) =>
    isFound ? { value, state: "observed" } : { value: null, state: "not-observed" },
  );
  return { row, labelTime: "2026-01-02", label: `label ${row}`, receivedAt: at, extractedAt: at, cells };
}

const folder = await mkdtemp(join(tmpdir(), "drs-parquet-"));
try {
  const path = join(folder, "export.parquet");
  const file = await open(path, "wx");
  const writer = await createTableWriter("parquet", COLUMNS, (bytes) => file.appendFile(bytes));
  await writer.write(Array.from({ length: ROWS }, (_, index) => rowOf(index + 1)));
  await writer.end();
  await file.close();
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  /** @param {string} sql */
  const ask = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();
  assert.deepEqual(await ask(`select column_name, column_type from (describe select * from '${path}')`), [
    ["row", "BIGINT"],
    ...["label_time", "label", "received_at", "extracted_at"].map((name) => [name, "VARCHAR"]),
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
  const misplaced = `select count(*) from (select row, row_number() over () as place from '${path}') where row <> place`;
  assert.deepEqual(await ask(misplaced), [["0"]]);
  assert.deepEqual(await ask(`select label from '${path}' where row = 5999`), [["label 5999"]]);

  const root = join(import.meta.dirname, "../..");
  const testRun = spawnSync("npx", ["--no", "vitest", "run", "e2e/data-scientist.test.ts"], {
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
} finally {
  await rm(folder, { recursive: true });
}
