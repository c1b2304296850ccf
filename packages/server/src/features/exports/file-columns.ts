/** The columns of an exported file, in each format. */
import { type Instant, parseDateTime } from "@device-risk-signals/contract";
import { type Cell, stateNameOf, type TableColumn, type TableHead, type TableRow } from "./table.ts";

interface ColumnOf<Type> {
  readonly name: string;
  readonly type: Type;
  /** Whether it can be empty. */
  readonly isOptional: boolean;
  readonly cellOf: (row: TableRow) => Cell["value"];
}

/** A time is a text in text formats, and an instant in Parquet. */
export type FileColumn =
  | ColumnOf<TableColumn["type"] | "text">
  | (ColumnOf<"time"> & { readonly instantOf: (row: TableRow) => Instant | undefined });

const EVENT: FileColumn = { name: "event", type: "count", isOptional: true, cellOf: ({ event }) => event };

export function fileColumns({ hasHistory, attributes, columns }: TableHead): readonly FileColumn[] {
  return [
    { name: "row", type: "count", isOptional: false, cellOf: ({ row }) => row },
    ...(hasHistory ? [EVENT] : []),
    {
      name: "label_time",
      type: "time",
      isOptional: false,
      cellOf: ({ labelTime }) => labelTime,
      instantOf: ({ labelAt }) => labelAt,
    },
    { name: "label", type: "text", isOptional: false, cellOf: ({ label }) => label },
    timeOf("received_at", ({ receivedAt }) => receivedAt),
    timeOf("extracted_at", ({ extractedAt }) => extractedAt),
    ...attributes.map((name, index): FileColumn => {
      return { name, type: "category", isOptional: true, cellOf: (row) => row.attributes[index] ?? null };
    }),
    ...columns.flatMap(({ name, type, inputs }, index): FileColumn[] => [
      { name, type, isOptional: true, cellOf: ({ cells }) => cells[index]?.value ?? null },
      {
        name: stateNameOf(name),
        type: "category",
        isOptional: false,
        cellOf: ({ cells }) => cells[index]?.state ?? null,
      },
      ...inputs.map(({ column }, input): FileColumn => {
        const cellOf = ({ cells }: TableRow): string | null => cells[index]?.inputs?.[input] ?? null;
        return { name: column, type: "category", isOptional: true, cellOf };
      }),
    ]),
  ];
}

function timeOf(name: string, cellOf: (row: TableRow) => string | null): FileColumn {
  const instantOf = (row: TableRow): Instant | undefined => {
    const text = cellOf(row);
    return text === null ? undefined : parseDateTime(text);
  };
  return { name, type: "time", isOptional: true, cellOf, instantOf };
}
