import { isUtf8 } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { macOf } from "../crypto/mac.ts";

/** A part of the system that writes entries with a MAC key of its own. */
export type Surface = "ingest" | "admin" | "worker" | "direct";

export const SURFACES: readonly Surface[] = ["ingest", "admin", "worker", "direct"];

/** The position of an entry in its lane. Numbers start at 1 and have no gaps. */
export interface Place {
  /** A UUID. */
  readonly lane: string;
  readonly number: number;
}

/** An entry of a lane, identified by its position and its MAC. */
export interface Head extends Place {
  readonly mac: Buffer;
}

/** The content of an entry. The bytes of the record are authoritative; the columns of the database are copies. */
export interface AuditRecord {
  /** A UUID. */
  readonly entryId: string;
  readonly surface: Surface;
  /** Absent if the entry is in no lane. */
  readonly place?: Place | undefined;
  /**
   * The previous entry of the same lane, or, for the first entry of a lane, the last known entry of the lane that it
   * continues.
   */
  readonly previous?: Head | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly actor: string;
  readonly via: string;
  readonly roles?: readonly string[] | undefined;
  readonly operation: string;
  readonly outcome: string;
  /** Keyed MACs of accounts, 16 bytes each: one, or one for each event. */
  readonly subjects?: readonly Buffer[] | undefined;
  /** UUIDs. */
  readonly eventIds?: readonly string[] | undefined;
  readonly occurrences: number;
  readonly reason?: string | undefined;
  /** JSON. */
  readonly detail?: string | undefined;
  readonly category?: string | undefined;
  readonly ticket?: string | undefined;
  readonly caseId?: string | undefined;
  readonly approvalId?: string | undefined;
  /** The secret under which `sealed` is encrypted. */
  readonly secretId?: string | undefined;
  readonly sealed?: Buffer | undefined;
}

/** The bytes of a record and their MAC. */
export interface SignedRecord {
  readonly bytes: Buffer;
  readonly mac: Buffer;
}

const FORMAT_PREFIX = Buffer.from("drs-audit/1\n");
const LENGTH_BYTES = 4;
/** The length of a field that is absent. */
const ABSENT_LENGTH = 0xffff_ffff;
const UUID_BYTES = 16;
const NUMBER_BYTES = 8;
const PLACE_BYTES = UUID_BYTES + NUMBER_BYTES;
export const MAC_BYTES = 32;
const SUBJECT_BYTES = 16;
const TWO_TO_32 = 2 ** 32;
/** Numbers are below 2^53. */
const MAX_HIGH_WORD = 2 ** 21;

interface Codec<Value> {
  readonly encode: (value: Value) => Buffer;
  /** Whether `encode` makes these bytes. */
  readonly isEncoded: (bytes: Buffer) => boolean;
  /** Decodes bytes that `encode` made. */
  readonly decode: (bytes: Buffer) => Value;
}

const text: Codec<string> = {
  encode: (value) => Buffer.from(value),
  isEncoded: isUtf8,
  decode: (value) => value.toString(),
};

const bytes: Codec<Buffer> = { encode: (value) => value, isEncoded: () => true, decode: (value) => value };

const uuid: Codec<string> = {
  isEncoded: ({ length }) => length === UUID_BYTES,
  encode: (value) => Buffer.from(value.replaceAll("-", ""), "hex"),
  decode: (value) => {
    const hex = value.toString("hex", 0, UUID_BYTES);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  },
};

const whole: Codec<number> = {
  encode: (value) => {
    const encoded = Buffer.allocUnsafe(NUMBER_BYTES);
    encoded.writeUInt32BE(Math.floor(value / TWO_TO_32), 0);
    encoded.writeUInt32BE(value % TWO_TO_32, NUMBER_BYTES / 2);
    return encoded;
  },
  isEncoded: (value) => value.length === NUMBER_BYTES && value.readUInt32BE(0) < MAX_HIGH_WORD,
  decode: (value) => value.readUInt32BE(0) * TWO_TO_32 + value.readUInt32BE(NUMBER_BYTES / 2),
};

const place: Codec<Place> = {
  encode: ({ lane, number }) => Buffer.concat([uuid.encode(lane), whole.encode(number)]),
  isEncoded: (value) => value.length === PLACE_BYTES && whole.isEncoded(value.subarray(UUID_BYTES)),
  decode: (value) => ({
    lane: uuid.decode(value.subarray(0, UUID_BYTES)),
    number: whole.decode(value.subarray(UUID_BYTES, PLACE_BYTES)),
  }),
};

const head: Codec<Head> = {
  encode: ({ mac, ...at }) => Buffer.concat([place.encode(at), mac]),
  isEncoded: (value) => place.isEncoded(value.subarray(0, PLACE_BYTES)),
  decode: (value) => ({ ...place.decode(value), mac: value.subarray(PLACE_BYTES) }),
};

/** @returns `undefined` for bytes that are not a sequence of texts, each after its length. */
function splitTexts(value: Buffer): string[] | undefined {
  const found: string[] = [];
  for (let at = 0; at < value.length;) {
    if (at + LENGTH_BYTES > value.length) return undefined;
    const end = at + LENGTH_BYTES + value.readUInt32BE(at);
    const part = value.subarray(at + LENGTH_BYTES, end);
    if (end > value.length || !text.isEncoded(part)) return undefined;
    found.push(text.decode(part));
    at = end;
  }
  return found;
}

const texts: Codec<readonly string[]> = {
  encode: (values) => Buffer.concat(values.flatMap((value) => withLengthPrefix(text.encode(value)))),
  isEncoded: (value) => splitTexts(value) !== undefined,
  decode: (value) => splitTexts(value) ?? [],
};

/** Values of one size, concatenated. */
const listOf = <Value>(one: Codec<Value>, size: number): Codec<readonly Value[]> => ({
  encode: (values) => Buffer.concat(values.map((value) => one.encode(value))),
  isEncoded: ({ length }) => length % size === 0,
  decode: (value) =>
    Array.from({ length: Math.floor(value.length / size) }, (_, index) =>
      one.decode(value.subarray(index * size, (index + 1) * size)),
    ),
});

type Fields = { readonly [Name in keyof AuditRecord]-?: Codec<NonNullable<AuditRecord[Name]>> };

/** The order of the fields is part of the format. */
const FIELD_CODECS: Fields = {
  entryId: uuid,
  surface: text as Codec<Surface>,
  place,
  previous: head,
  at: whole,
  actor: text,
  via: text,
  roles: texts,
  operation: text,
  outcome: text,
  subjects: listOf(bytes, SUBJECT_BYTES),
  eventIds: listOf(uuid, UUID_BYTES),
  occurrences: whole,
  reason: text,
  detail: text,
  category: text,
  ticket: text,
  caseId: uuid,
  approvalId: uuid,
  secretId: uuid,
  sealed: bytes,
};
const FIELD_NAMES = Object.keys(FIELD_CODECS) as (keyof AuditRecord)[];
const CODECS = Object.entries(FIELD_CODECS) as [keyof AuditRecord, Codec<unknown>][];
const REQUIRED: readonly (keyof AuditRecord)[] = [
  "entryId",
  "surface",
  "at",
  "actor",
  "via",
  "operation",
  "outcome",
  "occurrences",
];

function withLengthPrefix(field: Buffer | undefined): Buffer[] {
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt32BE(field?.length ?? ABSENT_LENGTH, 0);
  return field ? [length, field] : [length];
}

/**
 * The format `drs-audit/1`: a line that names it, then each field as its length (32 bits, big-endian) and its bytes.
 */
export function encodeRecord(record: AuditRecord): Buffer {
  const parts: Buffer[] = [FORMAT_PREFIX];
  for (const [name, { encode }] of CODECS) {
    const value = record[name];
    parts.push(...withLengthPrefix(value === undefined ? undefined : encode(value)));
  }
  return Buffer.concat(parts);
}

/** @returns `undefined` for bytes that are not the result of `encodeRecord`: each record has exactly one form. */
export function decodeRecord(encoded: Buffer): AuditRecord | undefined {
  const fields = splitFields(encoded);
  if (!fields) return undefined;
  const values: Partial<Record<keyof AuditRecord, unknown>> = {};
  for (const [index, [name, codec]] of CODECS.entries()) {
    const field = fields[index];
    if (field === undefined) continue;
    if (!codec.isEncoded(field)) return undefined;
    values[name] = codec.decode(field);
  }
  const record = values as unknown as AuditRecord;
  return REQUIRED.some((name) => record[name] === undefined) || !SURFACES.includes(record.surface) ? undefined : record;
}

function splitFields(encoded: Buffer): (Buffer | undefined)[] | undefined {
  if (!encoded.subarray(0, FORMAT_PREFIX.length).equals(FORMAT_PREFIX)) return undefined;
  const fields: (Buffer | undefined)[] = [];
  let at = FORMAT_PREFIX.length;
  for (const _ of FIELD_NAMES) {
    if (at + LENGTH_BYTES > encoded.length) return undefined;
    const length = encoded.readUInt32BE(at);
    at += LENGTH_BYTES;
    fields.push(length === ABSENT_LENGTH ? undefined : encoded.subarray(at, at + length));
    if (length !== ABSENT_LENGTH) at += length;
  }
  return at === encoded.length ? fields : undefined;
}

/** @param key of the record's surface. */
export function signRecord(key: KeyObject, record: AuditRecord): SignedRecord {
  const encoded = encodeRecord(record);
  return { bytes: encoded, mac: macOf(key, encoded) };
}
