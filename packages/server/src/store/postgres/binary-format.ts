/** The bytes of values in PostgreSQL's binary formats (the `…_send` and `…_recv` functions of its types). */

/** How a value of one type is written. */
export interface BinaryType<Value> {
  /** PostgreSQL's number of the type (`pg_type.oid`). */
  readonly oid: number;
  readonly size: (value: Value) => number;
  readonly write: (value: Value, to: Buffer, at: number) => void;
}

export interface Timestamp {
  readonly epochMs: number;
  readonly micros?: number;
}

/** 2000-01-01T00:00:00Z, from which PostgreSQL counts. */
const POSTGRES_EPOCH_MS = 946_684_800_000;

export const BYTEA: BinaryType<Buffer> = {
  oid: 17,
  size: (value) => value.length,
  write: (value, to, at) => void value.copy(to, at),
};

export const INT4: BinaryType<number> = {
  oid: 23,
  size: () => 4,
  write: (value, to, at) => void to.writeInt32BE(value, at),
};

export const TEXT: BinaryType<string> = {
  oid: 25,
  size: (value) => Buffer.byteLength(value),
  write: (value, to, at) => void to.write(value, at),
};

export const TIMESTAMPTZ: BinaryType<Timestamp> = {
  oid: 1184,
  size: () => 8,
  write: ({ epochMs, micros = 0 }, to, at) =>
    void to.writeBigInt64BE(BigInt(epochMs - POSTGRES_EPOCH_MS) * 1000n + BigInt(micros), at),
};

/** Values in the usual form, with hyphens. */
export const UUID: BinaryType<string> = {
  oid: 2950,
  size: () => 16,
  write: (value, to, at) => void to.write(value.replaceAll("-", ""), at, "hex"),
};
