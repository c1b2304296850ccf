/**
 * One-dimensional arrays in PostgreSQL's binary format (`array_send`), so that a batch travels as a handful of
 * parameters and no payload is written in hexadecimal.
 *
 * Layout: dimensions, has-nulls flag, element type, length, lower bound (each int32), then for each element its length
 * in bytes (int32) and its bytes.
 */

const OID = { bytea: 17, int4: 23, text: 25, timestamptz: 1184, uuid: 2950 } as const;
const HEAD_BYTES = 20;

/** 2000-01-01T00:00:00Z, where PostgreSQL counts from. */
const POSTGRES_EPOCH_MS = 946_684_800_000;

function encode<T>(
  oid: number,
  items: readonly T[],
  sizeOf: (item: T) => number,
  write: (item: T, to: Buffer, at: number) => void,
): Buffer {
  const sizes = items.map(sizeOf);
  const total = sizes.reduce((sum, size) => sum + 4 + size, HEAD_BYTES);
  const buffer = Buffer.allocUnsafe(total);
  buffer.writeInt32BE(items.length === 0 ? 0 : 1, 0);
  buffer.writeInt32BE(0, 4);
  buffer.writeInt32BE(oid, 8);
  if (items.length === 0) return buffer.subarray(0, 12);
  buffer.writeInt32BE(items.length, 12);
  buffer.writeInt32BE(1, 16);
  let at = HEAD_BYTES;
  items.forEach((item, index) => {
    const size = sizes[index] ?? 0;
    buffer.writeInt32BE(size, at);
    write(item, buffer, at + 4);
    at += 4 + size;
  });
  return buffer;
}

export function byteaArray(items: readonly Buffer[]): Buffer {
  return encode(
    OID.bytea,
    items,
    (item) => item.length,
    (item, to, at) => item.copy(to, at),
  );
}

export function textArray(items: readonly string[]): Buffer {
  return encode(
    OID.text,
    items,
    (item) => Buffer.byteLength(item),
    (item, to, at) => to.write(item, at),
  );
}

export function int4Array(items: readonly number[]): Buffer {
  return encode(
    OID.int4,
    items,
    () => 4,
    (item, to, at) => to.writeInt32BE(item, at),
  );
}

/** @param items in the usual form, with hyphens. */
export function uuidArray(items: readonly string[]): Buffer {
  return encode(
    OID.uuid,
    items,
    () => 16,
    (item, to, at) => to.write(item.replaceAll("-", ""), at, "hex"),
  );
}

export interface Timestamp {
  readonly epochMs: number;
  readonly micros?: number;
}

export function timestamptzArray(items: readonly Timestamp[]): Buffer {
  return encode(
    OID.timestamptz,
    items,
    () => 8,
    ({ epochMs, micros = 0 }, to, at) => {
      to.writeBigInt64BE(BigInt(epochMs - POSTGRES_EPOCH_MS) * 1000n + BigInt(micros), at);
    },
  );
}
