/**
 * Ids of the rows that the server inserts. An id is computed from the number of its row. A login of the database can
 * insert rows, but it can't compute the ids of further rows of the server. A search by these ids therefore finds the
 * rows of the server, however many rows a login inserts.
 */
import { uuidText } from "./pseudonymizer.ts";
import type { RowSigner, SignedValues } from "./row-signer.ts";

/** Computes the id of the row with a number. Numbers begin with 0. */
export type NumberedIds = (number: number) => string;

export const numberedIds =
  (signer: RowSigner, ...series: SignedValues): NumberedIds =>
  (number) =>
    uuidText(signer.sign([...series, number]).subarray(0, 16));

export interface NumberedRow<Row> {
  readonly number: number;
  readonly row: Row;
}

/** How to find the rows of a series. */
export interface NumberedSearch<Row> {
  readonly ids: NumberedIds;
  /** Number of ids that a statement looks up. */
  readonly page: number;
  readonly find: (ids: readonly string[]) => Promise<readonly Row[]>;
  readonly idOf: (row: Row) => string;
}

/**
 * Reads rows in the order of their numbers, until none of the ids of a page exists. Numbers can be missing after a
 * transaction that was rolled back, or after a restore.
 */
export async function* readNumbered<Row>({
  ids,
  page,
  find,
  idOf,
}: NumberedSearch<Row>): AsyncGenerator<readonly NumberedRow<Row>[]> {
  for (let first = 0; ; first += page) {
    const numbers = new Map(Array.from({ length: page }, (_, index) => [ids(first + index), first + index]));
    const rows = await find([...numbers.keys()]);
    if (rows.length === 0) return;
    yield rows
      .map((row) => ({ number: numbers.get(idOf(row)) ?? first, row }))
      .toSorted((one, other) => one.number - other.number);
  }
}

/** Reads into one list the rows that `readNumbered` yields. */
export async function findNumbered<Row>(search: NumberedSearch<Row>): Promise<readonly NumberedRow<Row>[]> {
  return (await Array.fromAsync(readNumbered(search))).flat();
}

/** The number of the next row, unless a concurrent transaction takes it. */
export async function nextNumber<Row>(search: NumberedSearch<Row>): Promise<number> {
  let next = 0;
  for await (const rows of readNumbered(search)) next = (rows.at(-1)?.number ?? -1) + 1;
  return next;
}
