/**
 * One-dimensional arrays in PostgreSQL's binary format (`array_send`), so that a batch needs few parameters and no
 * payload is written in hexadecimal.
 *
 * Layout: dimensions, has-nulls flag, element type, length, lower bound (each int32), then for each element its length
 * in bytes (int32) and its bytes.
 */
import { BYTEA, type BinaryType, INT4, TEXT, type Timestamp, TIMESTAMPTZ, UUID } from "./binary-format.ts";

const HEAD_BYTES = 20;

const arrayOf =
  <Value>({ oid, size, write }: BinaryType<Value>) =>
  (items: readonly Value[]): Buffer => {
    const sizes = items.map(size);
    const total = sizes.reduce((sum, bytes) => sum + 4 + bytes, HEAD_BYTES);
    const buffer = Buffer.allocUnsafe(total);
    buffer.writeInt32BE(items.length === 0 ? 0 : 1, 0);
    buffer.writeInt32BE(0, 4);
    buffer.writeInt32BE(oid, 8);
    if (items.length === 0) return buffer.subarray(0, 12);
    buffer.writeInt32BE(items.length, 12);
    buffer.writeInt32BE(1, 16);
    let at = HEAD_BYTES;
    items.forEach((item, index) => {
      const bytes = sizes[index] ?? 0;
      buffer.writeInt32BE(bytes, at);
      write(item, buffer, at + 4);
      at += 4 + bytes;
    });
    return buffer;
  };

export const byteaArray: (items: readonly Buffer[]) => Buffer = arrayOf(BYTEA);
export const textArray: (items: readonly string[]) => Buffer = arrayOf(TEXT);
export const int4Array: (items: readonly number[]) => Buffer = arrayOf(INT4);
export const uuidArray: (items: readonly string[]) => Buffer = arrayOf(UUID);
export const timestamptzArray: (items: readonly Timestamp[]) => Buffer = arrayOf(TIMESTAMPTZ);
