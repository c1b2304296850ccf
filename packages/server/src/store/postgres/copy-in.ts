/**
 * Rows that `COPY … FROM STDIN` stores, in its binary format (PostgreSQL's documentation of COPY, "Binary Format").
 */
import type pg from "pg";
import { Query } from "../../base/driver.ts";
import type { BinaryType } from "./binary-format.ts";
import type { Statements } from "./bounded-client.ts";

/** Signature, flags, and the length of an extension that is empty. */
const HEAD = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const COPY_DATA = 0x64;
const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4]);
/** Ends the rows. A row begins with its number of columns, which is never negative, so -1 can't begin a row. */
const END = -1;

/** A column, and how to get its value from a row. */
export interface CopiedColumn<Row> {
  readonly name: string;
  /** PostgreSQL's number of its type. */
  readonly oid: number;
  readonly size: (row: Row) => number;
  readonly write: (row: Row, to: Buffer, at: number) => void;
}

export interface CopyIn<Row> {
  readonly text: string;
  readonly columns: readonly CopiedColumn<Row>[];
}

/** Every declaration of the modules that are loaded, which `statements.test.ts` compares with the migrated schema. */
export const COPIES: CopyIn<never>[] = [];

export const copied = <Row, Value>(
  name: string,
  { oid, size, write }: BinaryType<Value>,
  valueOf: (row: Row) => Value,
): CopiedColumn<Row> => ({
  name,
  oid,
  size: (row) => size(valueOf(row)),
  write: (row, to, at) => write(valueOf(row), to, at),
});

/**
 * Declares a COPY, at the top level of a module.
 * @param command `copy` and the name of the table, as one text, so that the check of table owners finds the table.
 */
export function copyIn<Row>(command: string, columns: readonly CopiedColumn<Row>[]): CopyIn<Row> {
  const names = columns.map(({ name }) => name).join(", ");
  const declared = { text: `${command} (${names}) from stdin (format binary)`, columns };
  COPIES.push(declared);
  return declared;
}

/** A command with its rows, encoded. */
export interface EncodedCopy {
  readonly text: string;
  readonly messages: Buffer;
}

/** @throws RangeError for a value that its type can't hold. */
export const encodeCopy = <Row>({ text, columns }: CopyIn<Row>, rows: readonly Row[]): EncodedCopy => ({
  text,
  messages: copyMessages(columns, rows),
});

/**
 * Stores rows, once: sending them frees their memory. The rows are sent with the command, before the database has
 * answered the command. If the command fails, PostgreSQL ignores them.
 * @param client what `runTogether` passes, which has a deadline, or a client that runs nothing else.
 */
export function copyRows(client: Statements, { text, messages }: EncodedCopy): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new CopyQuery(text, messages, (error) => (error ? reject(error) : resolve())));
  });
}

class CopyQuery extends Query {
  readonly #text: string;
  readonly #messages: Buffer;

  constructor(text: string, messages: Buffer, callback: (error: Error | undefined) => void) {
    super(text, callback);
    this.#text = text;
    this.#messages = messages;
  }

  override submit = (connection: pg.Connection): void => {
    connection.query(this.#text);
    const { buffer } = this.#messages;
    // The memory is free as soon as the rows are sent, and not when V8 next collects garbage.
    connection.stream.write(this.#messages, () => void (buffer as ArrayBuffer).transfer(0));
  };

  /** The rows were sent already. */
  handleCopyInResponse(): void {}
}

/** One message with all rows, and the message that ends them. */
function copyMessages<Row>(columns: readonly CopiedColumn<Row>[], rows: readonly Row[]): Buffer {
  const sizes = rows.flatMap((row) => columns.map(({ size }) => size(row)));
  const bytes = 4 + HEAD.length + rows.length * 2 + sizes.reduce((sum, size) => sum + 4 + size, 0) + 2;
  const buffer = Buffer.allocUnsafeSlow(1 + bytes + COPY_DONE.length);
  buffer.writeUInt8(COPY_DATA, 0);
  buffer.writeInt32BE(bytes, 1);
  let at = 5 + HEAD.copy(buffer, 5);
  let next = 0;
  for (const row of rows) {
    at = buffer.writeInt16BE(columns.length, at);
    for (const { write } of columns) {
      const size = sizes[next++] ?? 0;
      at = buffer.writeInt32BE(size, at);
      write(row, buffer, at);
      at += size;
    }
  }
  at = buffer.writeInt16BE(END, at);
  COPY_DONE.copy(buffer, at);
  return buffer;
}
