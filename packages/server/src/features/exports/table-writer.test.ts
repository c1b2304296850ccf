import fc from "fast-check";
import { parquetMetadata, parquetReadObjects, type ColumnMetaData } from "hyparquet";
import { describe, expect, it } from "vitest";
import type { FeatureFormat } from "./export-table.ts";
import { isFormula } from "./labels.ts";
import type { TableColumn, TableHead, TableRow } from "./table.ts";
import { createTableWriter, CSV_PREFIX, csvCell } from "./table-writer.ts";

const column = (name: string, type: TableColumn["type"], unit: string | null = null): TableColumn => ({
  name,
  feature: name.replace("__v", "@"),
  hash: "00",
  meaning: `What ${name} says`,
  type,
  unit,
  false_readings: ["None is known"],
  inputs: [],
});
const COLUMNS = [
  column("root__v1", "flag"),
  column("traces__v2", "count"),
  column("speed__v1", "number", "ms"),
  column("kind__v1", "category"),
];
const HEAD: TableHead = {
  export_id: "6f0c1f0e-2f0e-4d0e-8f0e-1f0e2f0e3f0e",
  expires_on: "2027-01-31",
  hasHistory: false,
  attributes: [],
  columns: COLUMNS,
};
const LABEL_TIME = {
  labelTime: "2026-01-02 00:00:00.000001+01:00",
  labelAt: { epochMs: Date.parse("2026-01-01T23:00:00Z"), micros: 1 },
};
const TIMES = {
  ...LABEL_TIME,
  receivedAt: "2026-01-01T00:00:00.000Z",
  extractedAt: "2026-01-01T00:00:01.000002Z",
};
const observed = (value: boolean | number | string) => ({ value, state: "observed" });
const FULL: TableRow = {
  ...TIMES,
  row: 1,
  event: 1,
  label: 'fraud, "1"',
  attributes: [],
  cells: [observed(false), observed(2), observed(-1.5), observed("x")],
};
const EMPTY: TableRow = {
  ...LABEL_TIME,
  row: 2,
  event: null,
  label: "-1",
  receivedAt: null,
  extractedAt: null,
  attributes: [],
  cells: COLUMNS.map(() => ({ value: null, state: "no-row" })),
};

const write = (format: FeatureFormat, ...batches: (readonly TableRow[])[]): Promise<Buffer> =>
  writeWith(HEAD, format, ...batches);

async function writeWith(head: TableHead, format: FeatureFormat, ...batches: (readonly TableRow[])[]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const writer = await createTableWriter(format, head, async (bytes) => void chunks.push(bytes));
  for (const rows of batches) await writer.write(rows);
  await writer.end();
  return Buffer.concat(chunks);
}

const bufferOf = (file: Buffer): ArrayBuffer => new Uint8Array(file).buffer;
const readParquet = (file: Buffer): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({ file: bufferOf(file), parsers: { timestampFromMicroseconds: (micros) => micros } });

describe("an export", () => {
  it("is CSV, which never shows a state as a value", async () => {
    const [header, full, empty] = (await write("csv", [FULL, EMPTY])).toString().split("\n");
    const names = COLUMNS.flatMap(({ name }) => [name, `${name}__state`]);
    expect(header).toBe(["row,label_time,label,received_at,extracted_at", ...names].join(","));
    expect(full).toBe(
      `1,${TIMES.labelTime},"fraud, ""1""",${TIMES.receivedAt},${TIMES.extractedAt},false,observed,2,observed,-1.5,observed,x,observed`,
    );
    expect(empty).toBe(`2,${TIMES.labelTime},-1,,,,no-row,,no-row,,no-row,,no-row`);
  });

  it("is JSON lines with null for each state that has no value", async () => {
    const lines = (await write("jsonl", [FULL], [EMPTY])).toString().trimEnd().split("\n");
    const [full, empty] = lines.map((line) => JSON.parse(line) as unknown);
    expect(full).toMatchObject({ row: 1, label: 'fraud, "1"', root__v1: false, root__v1__state: "observed" });
    expect(empty).toMatchObject({ row: 2, received_at: null, root__v1: null, root__v1__state: "no-row" });
  });

  it("is Parquet with typed columns, and has the same bytes however the rows are divided into batches", async () => {
    const rows = Array.from({ length: 5_200 }, (_, index) => ({ ...(index % 2 === 0 ? FULL : EMPTY), row: index + 1 }));
    const file = await write("parquet", rows);
    expect(await write("parquet", rows.slice(0, 1_000), rows.slice(1_000))).toEqual(file);
    const read = await readParquet(file);
    expect(read).toHaveLength(rows.length);
    expect(read[0]).toMatchObject({ row: 1n, root__v1: false, traces__v2: 2n, speed__v1: -1.5, kind__v1: "x" });
    expect(read[5_199]).toMatchObject({ row: 5_200n, root__v1: null, root__v1__state: "no-row", label: "-1" });
  });

  it("is Parquet with times to the microsecond, which says what it is and what its columns mean", async () => {
    const file = await write("parquet", [FULL, EMPTY]);
    const [full, empty] = await readParquet(file);
    expect(full).toMatchObject({
      label_time: 1_767_308_400_000_001n,
      received_at: 1_767_225_600_000_000n,
      extracted_at: 1_767_225_601_000_002n,
    });
    expect(empty).toMatchObject({ received_at: null, extracted_at: null });
    const { schema, key_value_metadata: metadata = [], row_groups } = parquetMetadata(bufferOf(file));
    const time = { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" };
    expect(schema.filter(({ logical_type }) => logical_type?.type === "TIMESTAMP")).toEqual(
      ["label_time", "received_at", "extracted_at"].map((name) =>
        expect.objectContaining({ name, logical_type: time }),
      ),
    );
    const chunks = (row_groups[0]?.columns ?? []).map(({ meta_data }) => meta_data as ColumnMetaData);
    expect(chunks[4]?.statistics?.max_value).toEqual(new Date(TIMES.extractedAt));
    const { export_id, expires_on, columns } = HEAD;
    expect(Object.fromEntries(metadata.map(({ key, value = "" }) => [key, value]))).toEqual({
      "drs.export_id": export_id,
      "drs.expires_on": expires_on,
      "drs.columns": JSON.stringify(columns),
    });
  });

  it("is Parquet with a dictionary for each category, even if every row has another one or none has any", async () => {
    const kinds = ["x", "y", "z"].map((kind, index) => ({
      ...FULL,
      row: index + 1,
      cells: COLUMNS.map(() => observed(kind)),
    }));
    for (const rows of [kinds, [EMPTY]]) {
      const flags = rows.map((row) => ({
        ...row,
        cells: row.cells.map((cell, index) => (index < 3 ? { value: null, state: cell.state } : cell)),
      }));
      const file = await write("parquet", flags);
      expect(await readParquet(file)).toMatchObject(flags.map(({ cells }) => ({ kind__v1: cells[3]?.value })));
      const encodings = new Map(
        parquetMetadata(bufferOf(file)).row_groups[0]?.columns.map(({ meta_data }) => [
          meta_data?.path_in_schema.join(),
          meta_data?.encodings,
        ]),
      );
      for (const name of ["kind__v1", "kind__v1__state", "root__v1__state"]) {
        expect(encodings.get(name), name).toContain("RLE_DICTIONARY");
      }
    }
  });

  it("has attributes of the event in its own columns, which no spreadsheet runs", async () => {
    const head = { ...HEAD, attributes: ["platform", "app_version"] as const, columns: [] };
    const rows = [
      { ...FULL, attributes: ["ios", "=cmd()"] },
      { ...EMPTY, attributes: [null, null] },
    ];
    const [header, full, empty] = (await writeWith(head, "csv", rows)).toString().split("\n");
    expect(header).toMatch(/,extracted_at,platform,app_version$/);
    expect([full, empty]).toEqual([expect.stringMatching(/,ios,'=cmd\(\)$/), expect.stringMatching(/,,$/)]);
    expect(await readParquet(await writeWith(head, "parquet", rows))).toMatchObject([
      { platform: "ios", app_version: "=cmd()" },
      { platform: null, app_version: null },
    ]);
  });

  it("is Parquet without rows if all rows were left out", async () => {
    expect(await readParquet(await write("parquet"))).toEqual([]);
  });

  it.each([
    ["=cmd()", "'=cmd()"],
    ["@x,y", `"'@x,y"`],
    ["-1", "-1"],
    ["plain", "plain"],
    ["'=cmd()", "''=cmd()"],
    ["'plain", "''plain"],
  ])("runs no cell in a spreadsheet: %s is %s", (text, cell) => {
    expect(csvCell(text)).toBe(cell);
  });

  it("is CSV whose texts a reader has again who removes the prefix, and no spreadsheet runs any", () => {
    const piece = fc.oneof(fc.constantFrom("'", "=", "-", "@", '"', ",", "\r", "\n", "1"), fc.string());
    const texts = fc.array(piece).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(texts, (text) => {
        const cell = csvCell(text);
        // RFC 4180, section 2.
        const read = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
        expect(isFormula(read)).toBe(false);
        expect(read.startsWith(CSV_PREFIX) ? read.slice(CSV_PREFIX.length) : read).toBe(text);
      }),
    );
  });
});
