import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import {
  type Append,
  type Cell,
  type TableRow,
  stateNameOf,
  type TableColumn,
  type TableWriter,
} from "./table-writer.ts";

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
type Type = TableColumn["type"] | "number of a row";

const PHYSICAL: Readonly<Record<Type, Partial<Schema[number]>>> = {
  flag: { type: "BOOLEAN" },
  count: { type: "INT64" },
  number: { type: "DOUBLE" },
  category: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  "number of a row": { type: "INT64" },
};

interface Column {
  readonly name: string;
  readonly type: Type;
  readonly isOptional: boolean;
  readonly valueOf: (row: TableRow) => Cell["value"];
}

/** Writes each row group as soon as it is full, so that memory does not grow with the number of rows. */
export function createParquetWriter(tableColumns: readonly TableColumn[], append: Append): TableWriter {
  const pending = new Pending();
  const columns = columnsOf(tableColumns);
  const writer = new ParquetWriter({ writer: pending, schema: schemaOf(columns), createdBy: "drs" });
  let rows: TableRow[] = [];

  const writeGroup = async (group: readonly TableRow[]): Promise<void> => {
    const columnData = columns.map(({ name, type, valueOf }) => ({
      name,
      data: group.map((row) => storedOf(type, valueOf(row))),
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

function columnsOf(columns: readonly TableColumn[]): readonly Column[] {
  const text = { type: "category", isOptional: false } as const;
  return [
    { name: "row", type: "number of a row", isOptional: false, valueOf: ({ row }) => row },
    { ...text, name: "label_time", valueOf: ({ labelTime }) => labelTime },
    { ...text, name: "label", valueOf: ({ label }) => label },
    { ...text, name: "received_at", isOptional: true, valueOf: ({ receivedAt }) => receivedAt },
    { ...text, name: "extracted_at", isOptional: true, valueOf: ({ extractedAt }) => extractedAt },
    ...columns.flatMap(({ name, type }, index): Column[] => [
      { name, type, isOptional: true, valueOf: ({ cells }) => cells[index]?.value ?? null },
      { ...text, name: stateNameOf(name), valueOf: ({ cells }) => cells[index]?.state ?? "" },
    ]),
  ];
}

const schemaOf = (columns: readonly Column[]): Schema => [
  { name: "root", num_children: columns.length },
  ...columns.map(({ name, type, isOptional }): Schema[number] => ({
    name,
    repetition_type: isOptional ? "OPTIONAL" : "REQUIRED",
    ...PHYSICAL[type],
  })),
];

function storedOf(type: Type, value: Cell["value"]): Cell["value"] | bigint | undefined {
  if (value === null) return undefined;
  return PHYSICAL[type].type === "INT64" ? BigInt(value) : value;
}
