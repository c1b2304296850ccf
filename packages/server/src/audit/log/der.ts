/** The part of DER (X.690) that time stamps need: tags of one byte, lengths of up to four bytes. */

/** An encoded value. */
export interface Der {
  readonly tag: number;
  /** The content. */
  readonly value: Buffer;
  /** Tag, length and content. */
  readonly raw: Buffer;
}

export const TAGS = {
  integer: 0x02,
  octets: 0x04,
  oid: 0x06,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** Context-specific and constructed, number 0. */
  context0: 0xa0,
} as const;

const LONG_LENGTH = 0x80;
const HIGH_TAG = 0x1f;
const MAX_LENGTH_BYTES = 4;

/** @returns the values one after the other; `undefined` for bytes that are not DER. */
export function readAll(bytes: Buffer): readonly Der[] | undefined {
  const found: Der[] = [];
  for (let at = 0; at < bytes.length;) {
    const one = readOne(bytes.subarray(at));
    if (!one) return undefined;
    found.push(one);
    at += one.raw.length;
  }
  return found;
}

function readOne(bytes: Buffer): Der | undefined {
  const [tag = HIGH_TAG, first = LONG_LENGTH] = bytes;
  const count = first < LONG_LENGTH ? 0 : first - LONG_LENGTH;
  if ((tag & HIGH_TAG) === HIGH_TAG || first === LONG_LENGTH || count > MAX_LENGTH_BYTES || bytes.length < 2 + count) {
    return undefined;
  }
  const length = count === 0 ? first : bytes.readUIntBE(2, count);
  const start = 2 + count;
  const isShortest = count === 0 || (length >= LONG_LENGTH && bytes[2] !== 0);
  if (!isShortest || start + length > bytes.length) return undefined;
  return { tag, value: bytes.subarray(start, start + length), raw: bytes.subarray(0, start + length) };
}

/** The members of a value with this tag; empty if the value is missing, has another tag or is not DER. */
export const membersOf = (der: Der | undefined, tag: number): readonly Der[] =>
  der?.tag === tag ? (readAll(der.value) ?? []) : [];

export function encode(tag: number, ...content: readonly Buffer[]): Buffer {
  const value = Buffer.concat(content);
  if (value.length < LONG_LENGTH) return Buffer.concat([Buffer.of(tag, value.length), value]);
  const length = Buffer.from(value.length.toString(16).padStart(2 * MAX_LENGTH_BYTES, "0"), "hex");
  const shortest = length.subarray(length.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.of(tag, LONG_LENGTH + shortest.length), shortest, value]);
}

/** @param bytes of a number that is not negative, in the shortest form or with zeros before it. */
export function encodeInteger(bytes: Buffer): Buffer {
  const at = bytes.findIndex((byte) => byte !== 0);
  const shortest = at < 0 ? Buffer.of(0) : bytes.subarray(at);
  return encode(TAGS.integer, ...((shortest[0] ?? 0) >= LONG_LENGTH ? [Buffer.of(0)] : []), shortest);
}

/** @param text such as `1.2.840`. */
export function encodeOid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((number) => {
    const groups = [number % 128];
    for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift(128 + (left % 128));
    return groups;
  });
  return encode(TAGS.oid, Buffer.from(bytes));
}
