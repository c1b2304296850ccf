import { parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import type { FeatureFormat } from "./export-table.ts";
import { createTableWriter, csvCell, type TableRow, type TableColumn } from "./table-writer.ts";

const COLUMNS: readonly TableColumn[] = [
  { name: "root__v1", type: "flag" },
  { name: "traces__v2", type: "count" },
  { name: "speed__v1", type: "number" },
  { name: "kind__v1", type: "category" },
];
const TIMES = {
  labelTime: "2026-01-02",
  receivedAt: "2026-01-01T00:00:00.000Z",
  extractedAt: "2026-01-01T00:00:01.000Z",
};
const observed = (value: boolean | number | string) => ({ value, state: "observed" });
const FULL: TableRow = {
  ...TIMES,
  row: 1,
  label: 'fraud, "1"',
  cells: [observed(false), observed(2), observed(-1.5), observed("x")],
};
const EMPTY: TableRow = {
  row: 2,
  labelTime: "2026-01-02",
  label: "-1",
  receivedAt: null,
  extractedAt: null,
  cells: COLUMNS.map(() => ({ value: null, state: "no-row" })),
};

async function write(format: FeatureFormat, ...batches: (readonly TableRow[])[]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const writer = await createTableWriter(format, COLUMNS, async (bytes) => void chunks.push(bytes));
  for (const rows of batches) await writer.write(rows);
  await writer.end();
  return Buffer.concat(chunks);
}

async function readParquet(file: Buffer): Promise<Record<string, unknown>[]> {
  const bytes = new Uint8Array(file);
  return parquetReadObjects({ file: bytes.buffer });
}

describe("an export", () => {
  it("is CSV, which never shows a state as a value", async () => {
    const [header, full, empty] = (await write("csv", [FULL, EMPTY])).toString().split("\n");
    const names = COLUMNS.flatMap(({ name }) => [name, `${name}__state`]);
    expect(header).toBe(["row,label_time,label,received_at,extracted_at", ...names].join(","));
    expect(full).toBe(
      `1,2026-01-02,"fraud, ""1""",${TIMES.receivedAt},${TIMES.extractedAt},false,observed,2,observed,-1.5,observed,x,observed`,
    );
    expect(empty).toBe("2,2026-01-02,-1,,,,no-row,,no-row,,no-row,,no-row");
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

  it("is Parquet without rows if all rows were left out", async () => {
    expect(await readParquet(await write("parquet"))).toEqual([]);
  });

  it.each([
    ["=cmd()", "'=cmd()"],
    ["@x,y", `"'@x,y"`],
    ["-1", "-1"],
    ["plain", "plain"],
  ])("runs no cell in a spreadsheet: %s is %s", (text, cell) => {
    expect(csvCell(text)).toBe(cell);
  });
});
