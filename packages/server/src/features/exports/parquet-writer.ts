import { ByteWriter, type ColumnSource, ParquetWriter } from "hyparquet-writer";
import { type FileColumn, fileColumns } from "./file-columns.ts";
import type { Append, Cell, TableHead, TableRow, TableWriter } from "./table.ts";

/** Number of rows that form a row group. They are in memory until the group is full. */
const ROWS_PER_GROUP = 2_000;

/** Bytes of a Parquet file that have not been written yet. */
class Pending extends ByteWriter {
  /** Returns these bytes, and empties the buffer. */
  take(): Uint8Array {
    const bytes = this.getBytes().slice();
    this.index = 0;
    return bytes;
  }
}

type Schema = ConstructorParameters<typeof ParquetWriter>[0]["schema"];
type Type = FileColumn["type"];

const TEXT = { type: "BYTE_ARRAY", converted_type: "UTF8" } as const;
const PHYSICAL: Readonly<Record<Type, Partial<Schema[number]>>> = {
  flag: { type: "BOOLEAN" },
  count: { type: "INT64" },
  number: { type: "DOUBLE" },
  category: TEXT,
  text: TEXT,
  time: {
    type: "INT64",
    // The older form of the logical type, for readers that know no other.
    converted_type: "TIMESTAMP_MICROS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  },
};

/** Writes each row group as soon as it is full, so that memory does not grow with the number of rows. */
export function createParquetWriter(head: TableHead, append: Append): TableWriter {
  const pending = new Pending();
  const columns = fileColumns(head);
  const writer = new ParquetWriter({
    writer: pending,
    schema: schemaOf(columns),
    createdBy: "drs",
    kvMetadata: [
      { key: "drs.export_id", value: head.export_id },
      { key: "drs.expires_on", value: head.expires_on },
      { key: "drs.columns", value: JSON.stringify(head.columns) },
    ],
  });
  let rows: TableRow[] = [];

  const writeGroup = async (group: readonly TableRow[]): Promise<void> => {
    const columnData = columns.map((column): ColumnSource => ({
      name: column.name,
      data: group.map((row) => storedOf(column, row)),
      ...(column.type === "category" && { encoding: "RLE_DICTIONARY" }),
    }));
    await writer.write({ columnData, rowGroupSize: ROWS_PER_GROUP });
    await append(pending.take());
  };

  return {
    async write(more) {
      rows = [...rows, ...more];
      while (rows.length >= ROWS_PER_GROUP) {
        await writeGroup(rows.slice(0, ROWS_PER_GROUP));
        rows = rows.slice(ROWS_PER_GROUP);
      }
    },
    async end() {
      if (rows.length > 0) await writeGroup(rows);
      await writer.finish();
      await append(pending.take());
    },
  };
}

const schemaOf = (columns: readonly FileColumn[]): Schema => [
  { name: "root", num_children: columns.length },
  ...columns.map(({ name, type, isOptional }): Schema[number] => ({
    name,
    repetition_type: isOptional ? "OPTIONAL" : "REQUIRED",
    ...PHYSICAL[type],
  })),
];

function storedOf(column: FileColumn, row: TableRow): Cell["value"] | bigint | undefined {
  if (column.type === "time") {
    const at = column.instantOf(row);
    return at && BigInt(at.epochMs) * 1_000n + BigInt(at.micros);
  }
  const value = column.cellOf(row) ?? undefined;
  return column.type === "count" && value !== undefined ? BigInt(value) : value;
}
