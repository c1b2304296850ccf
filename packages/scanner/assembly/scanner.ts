/**
 * Scans the body of a request in one pass: AssemblyScript, which `npm run generate:scanner` compiles to
 * `src/scanner.wasm`. It accepts a body only if it can prove that the body is valid: one JSON text in UTF-8
 * without duplicate names, nested at most 64 levels deep, that follows the wire rules. It accepts no other body, and
 * the caller then asks the slow path, which decides. Names, rules and fields come from the caller (`define`), so that
 * they are written once, in TypeScript.
 *
 * Memory is laid out by hand and never grows. 64 zero bytes follow the body: no token contains a zero byte, so the scan
 * stops there without comparing each position with the end. A function that skips a token is named after the token, and
 * returns the position after the token, or 0 if the token is not there. Position 0 also holds a zero byte, so a
 * function that gets the 0 of another function returns 0, too.
 */

/** The largest body. */
export const CAPACITY: u32 = 262_144;
const SLACK: usize = 64;
const MAX_CONTEXTS: u32 = 64;
const MAX_FIELD_SLOTS: u32 = 4_096;
const MAX_ENTRIES: u32 = 1_024;
const ENTRY_BYTES: u32 = 32;
const MAX_NAME_BYTES: u32 = 32_768;
const MAX_DEPARTURES: u32 = 512;
const MAX_UNKNOWN_OUTCOMES: u32 = 512;
/** Names of members that are not defined are kept in a table, to find duplicates. */
const MAX_NAME_SLOTS: u32 = 8_192;
const MAX_NAMES: u32 = 4_096;
const NAME_SLOT_BYTES: u32 = 16;
/** The space for names that were spelled with escapes; it holds these names without the escapes. */
const MAX_RESPELLED_BYTES: u32 = 4_096;
/** Maximum number of slots that the look-up of a name examines, because a client may choose names with equal hashes. */
const MAX_EXAMINED_SLOTS: u32 = 32;
/** No word of the SDK is longer, even if each of its characters is spelled as an escape of six bytes. */
const MAX_SPELLED: u32 = 256;
const MAX_LEVEL: u32 = 64;
/** A number fits a double if the count of digits before its point plus its exponent is at most this. */
const SAFE_DIGITS: u32 = 300;

// The layout of the memory.
export const RESULT: usize = 1_024;
export const CAPTURES: usize = RESULT + 64;
export const OUTCOMES: usize = CAPTURES + 16 * 8;
export const SEEN: usize = OUTCOMES + 64;
export const RESULT_END: usize = SEEN + 128;
export const UNKNOWN_OUTCOMES: usize = 2_048;
const DECODED: usize = UNKNOWN_OUTCOMES + MAX_UNKNOWN_OUTCOMES;
const CONTEXTS: usize = 3_072;
const FIELD_SLOTS: usize = 4_096;
const ENTRIES: usize = FIELD_SLOTS + MAX_FIELD_SLOTS * 4;
const NAMES: usize = ENTRIES + MAX_ENTRIES * ENTRY_BYTES;
export const DEPARTURES: usize = NAMES + MAX_NAME_BYTES;
const NAME_SLOTS: usize = DEPARTURES + MAX_DEPARTURES * 20;
const RESPELLED_NAMES: usize = NAME_SLOTS + MAX_NAME_SLOTS * NAME_SLOT_BYTES;
/** Start and end of the value of each field of the catalog; valid only for fields that the body has (`SEEN`). */
export const VALUES: usize = RESPELLED_NAMES + MAX_RESPELLED_BYTES;
export const INPUT: usize = VALUES + MAX_ENTRIES * 8;
export const MEMORY_END: usize = INPUT + CAPACITY + SLACK;

// Words of RESULT.
const MEMBERS: usize = RESULT;
const ESCAPES: usize = RESULT + 4;
const EVENT_START: usize = RESULT + 8;
const EVENT_END: usize = RESULT + 12;
const DEPARTURE_COUNT: usize = RESULT + 16;
const UNKNOWN_COUNT: usize = RESULT + 20;

// Types of JSON values. A set of types has a bit for each, at the position that is the type's number.
const STRING: u32 = 1;
const NUMBER: u32 = 2;
const BOOLEAN: u32 = 3;
const NULL: u32 = 4;
const ARRAY: u32 = 5;
const OBJECT: u32 = 6;
// Kinds of defined members. A field of the catalog has one of the types above, or `STRINGS` or `NUMBERS`.
const STRINGS: u32 = 7;
const NUMBERS: u32 = 8;
const TEXT: u32 = 16;
const WORD: u32 = 17;
const ONE: u32 = 18;
const INSTANT: u32 = 19;
const EVENT: u32 = 20;
const PROBES: u32 = 21;
const DATA: u32 = 22;
const REASON: u32 = 23;

// Kinds of departures from the catalog.
const UNKNOWN_PROBE: u32 = 1;
const UNKNOWN_FIELD: u32 = 2;
const WRONG_TYPE: u32 = 3;
const MISSING_FIELD: u32 = 4;

// Offsets of the members of a context.
const CONTEXT_BYTES: u32 = 16;
const FIRST: usize = 0;
const COUNT: usize = 4;
const REQUIRED_COUNT: usize = 6;
const REQUIRED_MASK: usize = 8;
const IS_OPEN: usize = 12;

// Offsets in the entry of a defined member of a context.
const NAME: usize = 0;
const NAME_LENGTH: usize = 4;
const CONTEXT: usize = 6;
const KIND: usize = 8;
const IS_REQUIRED: usize = 9;
const CHILD: usize = 10;
const ORDINAL: usize = 12;
const CAPTURE: usize = 14;
const LEAST: usize = 16;
const MOST: usize = 20;
const MASK: usize = 24;
const IS_PLAIN: usize = 28;

const NO_CAPTURE: u32 = 0xff;
const NO_REASON: u32 = 15;

const QUOTE: u32 = 0x22;
const PLUS: u32 = 0x2b;
const COMMA: u32 = 0x2c;
const MINUS: u32 = 0x2d;
const POINT: u32 = 0x2e;
const SLASH: u32 = 0x2f;
const COLON: u32 = 0x3a;
const OPEN_ARRAY: u32 = 0x5b;
const BACKSLASH: u32 = 0x5c;
const CLOSE_ARRAY: u32 = 0x5d;
const OPEN_OBJECT: u32 = 0x7b;
const CLOSE_OBJECT: u32 = 0x7d;

// How a string is spelled.
const ESCAPE: u32 = 1;
/** The string has an escape with an alternative spelling: `\uXXXX` or `\/`. */
const RESPELLED: u32 = 2;

let entries: u32 = 0;
let nameBytes: u32 = 0;

/** The type of the value that was skipped last. For an array, `itemKinds` is the set of the types of its items. */
let kind: u32 = 0;
let itemKinds: u32 = 0;
/** The spelling of the string that was skipped last. */
let spelling: u32 = 0;
/** The defined members of the object that `fixedObject` skipped last, as a set of bits. */
let bits: u32 = 0;
/** The entry of the `WORD` that was read last, and the ordinal of the reason or error that was read last. */
let word: usize = 0;
let reason: u32 = 0;
let dataContext: u32 = 0;
let outcomeContext: u32 = 0;

let generation: u32 = 0;
let members: u32 = 0;
let objects: u32 = 0;
let names: u32 = 0;

/** The name that was skipped last, without escapes that it does not need. */
let nameAt: usize = 0;
let nameLength: u32 = 0;
let respelledBytes: u32 = 0;

/** Begins a context; its members must be defined before those of the next one. */
export function open(context: u32, isOpen: u32): void {
  if (context >= MAX_CONTEXTS) unreachable();
  const at = CONTEXTS + context * CONTEXT_BYTES;
  store<u32>(at + FIRST, ENTRIES + entries * ENTRY_BYTES);
  store<u8>(at + IS_OPEN, isOpen);
}

/**
 * Defines a member of a context. Its name is at `INPUT`.
 *
 * @param child the context of the members of its value, or of the words that its value may be.
 * @param capture the slot of `CAPTURES` for the position of its text, or 255 for none.
 * @param mask the members that an outcome with this status has, if the entry is the word of a status.
 * @returns the number of the entry.
 */
export function define(
  context: u32,
  length: u32,
  memberKind: u32,
  child: u32,
  isRequired: u32,
  capture: u32,
  least: u32,
  most: u32,
  isPlain: u32,
  mask: u32,
): u32 {
  if (context >= MAX_CONTEXTS || entries >= MAX_ENTRIES || nameBytes + length + 8 > MAX_NAME_BYTES) unreachable();
  const at = CONTEXTS + context * CONTEXT_BYTES;
  const ordinal = load<u16>(at + COUNT);
  store<u16>(at + COUNT, ordinal + 1);
  if (isRequired) {
    store<u16>(at + REQUIRED_COUNT, load<u16>(at + REQUIRED_COUNT) + 1);
    if (ordinal < 32) store<u32>(at + REQUIRED_MASK, load<u32>(at + REQUIRED_MASK) | (1 << ordinal));
  }
  const entry = ENTRIES + entries * ENTRY_BYTES;
  const name = NAMES + nameBytes;
  memory.copy(name, INPUT, length);
  nameBytes += length;
  store<u32>(entry + NAME, name);
  store<u16>(entry + NAME_LENGTH, length);
  store<u16>(entry + CONTEXT, context);
  store<u8>(entry + KIND, memberKind);
  store<u8>(entry + IS_REQUIRED, isRequired);
  store<u16>(entry + CHILD, child);
  store<u16>(entry + ORDINAL, ordinal);
  store<u8>(entry + CAPTURE, capture);
  store<u32>(entry + LEAST, least);
  store<u32>(entry + MOST, most);
  store<u32>(entry + MASK, mask);
  store<u8>(entry + IS_PLAIN, isPlain);
  let slot = slotOf(context, name, length);
  while (load<u32>(FIELD_SLOTS + slot * 4)) slot = (slot + 1) & (MAX_FIELD_SLOTS - 1);
  store<u32>(FIELD_SLOTS + slot * 4, entry);
  return entries++;
}

/**
 * Scans the body at `INPUT`.
 *
 * @param root the context of the transport object, or of an event.
 * @param outcomes the context of an outcome.
 * @returns 1 if the body is valid, with the result at `RESULT`; 0 if the scanner can't tell.
 */
export function scan(length: u32, root: u32, outcomes: u32): u32 {
  if (length > CAPACITY) return 0;
  const end = INPUT + length;
  memory.fill(end, 0, SLACK);
  memory.fill(RESULT, 0, RESULT_END - RESULT);
  if (++generation == 0) {
    memory.fill(NAME_SLOTS, 0, MAX_NAME_SLOTS * NAME_SLOT_BYTES);
    generation = 1;
  }
  members = 0;
  objects = 0;
  names = 0;
  respelledBytes = 0;
  outcomeContext = outcomes;
  let at = space(INPUT);
  if (load<u8>(at) != OPEN_OBJECT) return 0;
  at = fixedObject(at + 1, root, 1);
  // guard(false): nothing but white space follows the object
  if (at == 0 || space(at) != end) return 0;
  store<u32>(MEMBERS, members);
  return 1;
}

function space(at: usize): usize {
  return load<u8>(at) > 0x20 ? at : spaces(at);
}

function spaces(at: usize): usize {
  while (true) {
    const byte: u32 = load<u8>(at);
    if (byte != 0x20 && byte != 0x0a && byte != 0x0d && byte != 0x09) return at;
    at++;
  }
}

/** Skips a colon and the white space around it. */
function colon(at: usize): usize {
  at = space(at);
  return load<u8>(at) == COLON ? space(at + 1) : 0;
}

/** @param at the position after the opening quote. */
function string(at: usize): usize {
  let found: u32 = 0;
  while (true) {
    const chunk = v128.load(at);
    // Bytes of control characters and bytes beyond ASCII are less than a space if they are read as signed numbers.
    const isSpecial = v128.or(
      v128.or(i8x16.eq(chunk, i8x16.splat(0x22)), i8x16.eq(chunk, i8x16.splat(0x5c))),
      i8x16.lt_s(chunk, i8x16.splat(0x20)),
    );
    const special = i8x16.bitmask(isSpecial);
    if (special == 0) {
      at += 16;
      continue;
    }
    at += ctz(special);
    const byte: u32 = load<u8>(at);
    if (byte == QUOTE) {
      spelling = found;
      return at + 1;
    }
    if (byte == BACKSLASH) {
      found |= ESCAPE;
      if (load<u8>(at + 1) == 0x75) {
        found |= RESPELLED;
        store<u32>(ESCAPES, 1);
        at = unicodeEscape(at);
      } else {
        if (load<u8>(at + 1) == SLASH) found |= RESPELLED;
        at = escape(at);
      }
    } else if (byte >= 0x80) at = sequence(at);
    else return 0;
    if (at == 0) return 0;
  }
}

/** @param at the position of the backslash, which a character other than `u` follows. */
function escape(at: usize): usize {
  const byte: u32 = load<u8>(at + 1);
  const isKnown =
    byte == QUOTE ||
    byte == BACKSLASH ||
    byte == SLASH ||
    byte == 0x62 ||
    byte == 0x66 ||
    byte == 0x6e ||
    byte == 0x72 ||
    byte == 0x74;
  // guard(true): JSON has eight escapes of one character
  return isKnown ? at + 2 : 0;
}

/** @param at the position of the backslash. The escapes of a surrogate pair are skipped together. */
function unicodeEscape(at: usize): usize {
  const unit = codeUnit(at);
  if (unit > 0xffff) return 0;
  if (unit < 0xd800 || unit > 0xdfff) return at + 6;
  // guard(false): the second half of a surrogate pair does not come first
  if (unit >= 0xdc00) return 0;
  if (load<u16>(at + 6) != 0x755c) return 0;
  const second = codeUnit(at + 6);
  // guard(true): the second half of a surrogate pair follows the first
  return second >= 0xdc00 && second <= 0xdfff ? at + 12 : 0;
}

/**
 * The code unit of the four hexadecimal digits of a Unicode escape; a number above 0xffff if they are no hexadecimal
 * digits.
 */
function codeUnit(at: usize): u32 {
  let unit: u32 = 0;
  for (let digit: usize = 2; digit < 6; digit++) {
    const byte: u32 = load<u8>(at + digit);
    const lower = byte | 0x20;
    if (byte >= 0x30 && byte <= 0x39) unit = (unit << 4) | (byte - 0x30);
    else if (lower >= 0x61 && lower <= 0x66) unit = (unit << 4) | (lower - 0x57);
    else return 0x10000;
  }
  return unit;
}

/** A character beyond ASCII in UTF-8 (RFC 3629 §4). */
function sequence(at: usize): usize {
  const first: u32 = load<u8>(at);
  const second: u32 = load<u8>(at + 1);
  if (first < 0xe0) {
    // guard(true): two bytes encode no character of one
    return first >= 0xc2 && isContinuation(second) ? at + 2 : 0;
  }
  if (first < 0xf0) {
    // guard(false): three bytes encode no character of two
    if (first == 0xe0 && second < 0xa0) return 0;
    // guard(false): three bytes encode no surrogate
    if (first == 0xed && second >= 0xa0) return 0;
    return isContinuation(second) && isContinuation(load<u8>(at + 2)) ? at + 3 : 0;
  }
  if (first == 0xf0 && second < 0x90) return 0;
  // guard(false): no character is beyond U+10FFFF
  if (first > 0xf4 || (first == 0xf4 && second >= 0x90)) return 0;
  const isComplete = isContinuation(second) && isContinuation(load<u8>(at + 2)) && isContinuation(load<u8>(at + 3));
  return isComplete ? at + 4 : 0;
}

function isContinuation(byte: u32): bool {
  return (byte & 0xc0) == 0x80;
}

function isDigit(byte: u32): bool {
  return byte - 0x30 < 10;
}

/** Skips a number, if it certainly fits a double. */
function number(at: usize): usize {
  if (load<u8>(at) == MINUS) at++;
  const first = at;
  let byte: u32 = load<u8>(at);
  // guard(false): a number has a digit before its point
  if (!isDigit(byte)) return 0;
  const isZero = byte == 0x30;
  do {
    byte = load<u8>(++at);
  } while (isDigit(byte));
  const digits: u32 = u32(at - first);
  // guard(false): no zero leads a number
  if (isZero && digits > 1) return 0;
  // guard(false): a number with many digits may be beyond a double
  if (digits > SAFE_DIGITS) return 0;
  if (byte == POINT) {
    byte = load<u8>(++at);
    // guard(false): a digit follows the point
    if (!isDigit(byte)) return 0;
    do {
      byte = load<u8>(++at);
    } while (isDigit(byte));
  }
  return (byte | 0x20) == 0x65 ? exponent(at, digits) : at;
}

/** @param at the position of its `e` or `E`. */
function exponent(at: usize, digits: u32): usize {
  let byte: u32 = load<u8>(++at);
  const isNegative = byte == MINUS;
  if (isNegative || byte == PLUS) byte = load<u8>(++at);
  // guard(false): an exponent has a digit
  if (!isDigit(byte)) return 0;
  let value: u32 = 0;
  do {
    value = min<u32>(value * 10 + (byte - 0x30), 1_000);
    byte = load<u8>(++at);
  } while (isDigit(byte));
  // guard(false): a number with a large exponent may be beyond a double
  if (!isNegative && digits + value > SAFE_DIGITS) return 0;
  return at;
}

/** Any value. @param level the nesting level of the value if it is an array or object. */
function value(at: usize, level: u32): usize {
  const byte: u32 = load<u8>(at);
  if (byte == QUOTE) {
    at = string(at + 1);
    kind = STRING;
    return at;
  }
  if (byte == OPEN_OBJECT) return anyObject(at + 1, level);
  if (byte == OPEN_ARRAY) return array(at + 1, level);
  const letters = load<u32>(at);
  if (letters == 0x65757274) {
    kind = BOOLEAN;
    return at + 4;
  }
  if (letters == 0x736c6166 && load<u8>(at + 4) == 0x65) {
    kind = BOOLEAN;
    return at + 5;
  }
  if (letters == 0x6c6c756e) {
    kind = NULL;
    return at + 4;
  }
  kind = NUMBER;
  return number(at);
}

/** @param at the position after its bracket. */
function array(at: usize, level: u32): usize {
  // guard(false): arrays are nested to a limit
  if (level > MAX_LEVEL) return 0;
  let found: u32 = 0;
  at = space(at);
  if (load<u8>(at) != CLOSE_ARRAY) {
    while (true) {
      at = value(at, level + 1);
      found |= 1 << kind;
      at = space(at);
      const byte: u32 = load<u8>(at);
      if (byte == CLOSE_ARRAY) break;
      if (byte != COMMA) return 0;
      at = space(at + 1);
    }
  }
  kind = ARRAY;
  itemKinds = found;
  return at + 1;
}

/** Skips the name of a member, with its quotes. */
function memberName(at: usize): usize {
  if (load<u8>(at) != QUOTE) return 0;
  members++;
  nameAt = at + 1;
  at = string(nameAt);
  if (at == 0) return 0;
  nameLength = u32(at - 1 - nameAt);
  if (spelling & ESCAPE) store<u32>(ESCAPES, 1);
  // guard(false): a name that can be spelled in another way may be equal to another one
  if (spelling & RESPELLED && !respell()) return 0;
  return at;
}

/**
 * Decodes `\/` and the Unicode escapes of ASCII characters in a name. It does not decode escapes of control characters,
 * quotes and backslashes, because JSON has no spelling of these without an escape.
 *
 * @returns false for a name with another escape, or if there is no space left.
 */
function respell(): bool {
  if (respelledBytes + nameLength > MAX_RESPELLED_BYTES) return false;
  const start = RESPELLED_NAMES + respelledBytes;
  const end = nameAt + nameLength;
  let to = start;
  while (nameAt < end) {
    let byte: u32 = load<u8>(nameAt);
    if (byte != BACKSLASH) nameAt++;
    else if (load<u8>(nameAt + 1) == SLASH) {
      byte = SLASH;
      nameAt += 2;
    } else {
      if (load<u8>(nameAt + 1) != 0x75) return false;
      byte = codeUnit(nameAt);
      // guard(false): a Unicode escape in a name is accepted only for an ASCII character that needs no escape
      if (byte < 0x20 || byte > 0x7e || byte == QUOTE || byte == BACKSLASH) return false;
      nameAt += 6;
    }
    store<u8>(to++, byte);
  }
  nameAt = start;
  nameLength = u32(to - start);
  respelledBytes += nameLength;
  return true;
}

/** Skips the comma after a member, with the white space after the comma; returns 1 at the end of the object. */
function comma(at: usize): usize {
  const byte: u32 = load<u8>(at);
  if (byte == COMMA) return space(at + 1);
  return byte == CLOSE_OBJECT ? 1 : 0;
}

/** An object without defined members. @param at the position after its brace. */
function anyObject(at: usize, level: u32): usize {
  // guard(false): objects are nested to a limit
  if (level > MAX_LEVEL) return 0;
  const object = ++objects;
  at = space(at);
  if (load<u8>(at) != CLOSE_OBJECT) {
    while (true) {
      at = memberName(at);
      if (at == 0) return 0;
      // guard(false): a name occurs once in an object of which nothing is defined
      if (!claim(object)) return 0;
      at = space(value(colon(at), level + 1));
      const next = comma(at);
      if (next == 0) return 0;
      if (next == 1) break;
      at = next;
    }
  }
  kind = OBJECT;
  return at + 1;
}

/** The transport object, the event or an outcome. @param at the position after its brace. */
function fixedObject(at: usize, context: u32, level: u32): usize {
  const rules = CONTEXTS + context * CONTEXT_BYTES;
  const object = ++objects;
  let found: u32 = 0;
  at = space(at);
  if (load<u8>(at) != CLOSE_OBJECT) {
    while (true) {
      at = memberName(at);
      if (at == 0) return 0;
      const entry = find(context, nameAt, nameLength);
      at = colon(at);
      if (entry) {
        const bit: u32 = 1 << load<u16>(entry + ORDINAL);
        // guard(false): a defined name occurs once
        if (found & bit) return 0;
        found |= bit;
        at = definedMember(at, entry, level + 1);
      } else {
        // guard(false): a closed object has no other members
        if (!load<u8>(rules + IS_OPEN)) return 0;
        // guard(false): a name that is not defined occurs once
        if (!claim(object)) return 0;
        at = value(at, level + 1);
      }
      at = space(at);
      const next = comma(at);
      if (next == 0) return 0;
      if (next == 1) break;
      at = next;
    }
  }
  const required = load<u32>(rules + REQUIRED_MASK);
  // guard(false): required members are there
  if ((found & required) != required) return 0;
  bits = found;
  return at + 1;
}

/**
 * The value of a member that the wire rules define. @param level the nesting level of the value if it is an array or
 * object.
 */
function definedMember(at: usize, entry: usize, level: u32): usize {
  const first: u32 = load<u8>(at);
  const child: u32 = load<u16>(entry + CHILD);
  switch (u32(load<u8>(entry + KIND))) {
    case TEXT: {
      if (first != QUOTE) return 0;
      const end = string(at + 1);
      const length: u32 = u32(end - 1 - (at + 1));
      const most = load<u32>(entry + MOST);
      if (end == 0) return 0;
      // guard(false): a text has a least length
      if (length < load<u32>(entry + LEAST)) return 0;
      const isDecoded = load<u8>(entry + IS_PLAIN) && spelling & ESCAPE;
      // guard(false): a text has a maximum length, and a promoted text contains no U+0000
      if (((most && length > most) || isDecoded) && characters(at + 1, length) > (most ? most : length)) return 0;
      capture(entry, at + 1, length);
      return end;
    }
    case INSTANT: {
      if (first != QUOTE) return 0;
      const end = string(at + 1);
      if (end == 0 || spelling & ESCAPE) return 0;
      capture(entry, at + 1, u32(end - 1 - (at + 1)));
      return end;
    }
    case WORD: {
      if (first != QUOTE) return 0;
      const end = string(at + 1);
      if (end == 0) return 0;
      const length: u32 = u32(end - 1 - (at + 1));
      word = find(child, at + 1, length);
      // guard(false): a word is one of the allowed ones
      if (word == 0) return 0;
      capture(entry, at + 1, length);
      return end;
    }
    case ONE:
      // guard(true): the version is 1
      return first == 0x31 ? at + 1 : 0;
    case EVENT: {
      if (first != OPEN_OBJECT) return 0;
      store<u32>(EVENT_START, u32(at - INPUT));
      at = fixedObject(at + 1, child, level);
      store<u32>(EVENT_END, u32(at - INPUT));
      return at;
    }
    case PROBES:
      return first == OPEN_OBJECT ? probes(at + 1, child, level) : 0;
    case DATA:
      if (first != OPEN_OBJECT) return 0;
      return dataContext ? fields(at + 1, dataContext, level) : anyObject(at + 1, level);
    case REASON: {
      if (first != QUOTE) return 0;
      const end = string(at + 1);
      if (end != 0) reason = reasonOf(child, at + 1, u32(end - 1 - (at + 1)));
      return end;
    }
    default:
      return 0;
  }
}

/** The number of code points of a text; a number above every limit if the text contains U+0000. */
function characters(at: usize, length: u32): u32 {
  const end = at + length;
  let count: u32 = 0;
  while (at < end) {
    const byte: u32 = load<u8>(at);
    if (byte != BACKSLASH) {
      if (!isContinuation(byte)) count++;
      at++;
      continue;
    }
    count++;
    if (load<u8>(at + 1) != 0x75) at += 2;
    else {
      const unit = codeUnit(at);
      if (unit == 0) return u32.MAX_VALUE;
      at += unit >= 0xd800 && unit <= 0xdbff ? 12 : 6;
    }
  }
  return count;
}

/** The ordinal of a text, which may have escapes, among the words of a context; `NO_REASON` if it is none of them. */
function reasonOf(context: u32, at: usize, length: u32): u32 {
  if (spelling & RESPELLED) {
    if (length > MAX_SPELLED) return NO_REASON;
    length = decode(at, length);
    at = DECODED;
  }
  const known = find(context, at, length);
  return known ? load<u16>(known + ORDINAL) : NO_REASON;
}

/**
 * Copies a text to `DECODED`, with Unicode escapes of ASCII characters decoded. Every other escape becomes a byte above
 * 0x7f, which no word contains.
 * @returns the length of the copy.
 */
function decode(at: usize, length: u32): u32 {
  const end = at + length;
  let to = DECODED;
  while (at < end) {
    let byte: u32 = load<u8>(at);
    if (byte != BACKSLASH) at++;
    else if (load<u8>(at + 1) != 0x75) {
      byte = 0xff;
      at += 2;
    } else {
      byte = min<u32>(codeUnit(at), 0xff);
      at += 6;
    }
    store<u8>(to++, byte);
  }
  return u32(to - DECODED);
}

function capture(entry: usize, at: usize, length: u32): void {
  const slot: u32 = load<u8>(entry + CAPTURE);
  if (slot == NO_CAPTURE) return;
  store<u32>(CAPTURES + slot * 8, u32(at - INPUT));
  store<u32>(CAPTURES + slot * 8 + 4, length);
}

/** @param at the position after its brace. */
function probes(at: usize, context: u32, level: u32): usize {
  const object = ++objects;
  at = space(at);
  if (load<u8>(at) == CLOSE_OBJECT) return at + 1;
  while (true) {
    const name = at + 1;
    at = memberName(at);
    if (at == 0) return 0;
    const length: u32 = u32(at - 1 - name);
    const entry = find(context, nameAt, nameLength);
    at = colon(at);
    if (load<u8>(at) != OPEN_OBJECT) return 0;
    if (entry) {
      // guard(false): a probe of the catalog occurs once
      if (!mark(entry)) return 0;
      at = outcome(at, load<u16>(entry + CHILD), level + 1);
      store<u8>(OUTCOMES + load<u16>(entry + ORDINAL), outcomeCode());
    } else {
      // guard(false): a probe that is not in the catalog occurs once
      if (!claim(object)) return 0;
      if (!depart(UNKNOWN_PROBE, OBJECT, 0, name, length)) return 0;
      at = outcome(at, 0, level + 1);
      const count = load<u32>(UNKNOWN_COUNT);
      if (count == MAX_UNKNOWN_OUTCOMES) return 0;
      store<u8>(UNKNOWN_OUTCOMES + count, outcomeCode());
      store<u32>(UNKNOWN_COUNT, count + 1);
    }
    at = space(at);
    const next = comma(at);
    if (next == 0) return 0;
    if (next == 1) return at + 1;
    at = next;
  }
}

/** The status, counted from 1, and the reason or error of the outcome that was skipped last. */
function outcomeCode(): u32 {
  return ((load<u16>(word + ORDINAL) + 1) << 4) | reason;
}

/**
 * @param at the position of its brace. @param context the context of its data; 0 if no member of the data is defined.
 */
function outcome(at: usize, context: u32, level: u32): usize {
  reason = NO_REASON;
  dataContext = context;
  at = fixedObject(at + 1, outcomeContext, level);
  // guard(false): an outcome has exactly the members of its status
  if (at == 0 || bits != load<u32>(word + MASK)) return 0;
  return at;
}

/**
 * Data of a probe of the catalog, or an object in it that the catalog defines. @param at the position after its brace.
 */
function fields(at: usize, context: u32, level: u32): usize {
  const rules = CONTEXTS + context * CONTEXT_BYTES;
  const object = ++objects;
  let required: u32 = 0;
  at = space(at);
  if (load<u8>(at) != CLOSE_OBJECT) {
    while (true) {
      const name = at + 1;
      at = memberName(at);
      if (at == 0) return 0;
      const length: u32 = u32(at - 1 - name);
      const entry = find(context, nameAt, nameLength);
      at = colon(at);
      if (entry) {
        // guard(false): a field of the catalog occurs once
        if (!mark(entry)) return 0;
        required += load<u8>(entry + IS_REQUIRED);
        const start = at;
        at = field(at, entry, level + 1);
        const position = VALUES + numberOf(entry) * 8;
        store<u32>(position, u32(start - INPUT));
        store<u32>(position + 4, u32(at - INPUT));
      } else {
        // guard(false): a field that is not in the catalog occurs once
        if (!claim(object)) return 0;
        at = value(at, level + 1);
        if (!depart(UNKNOWN_FIELD, kind, context, name, length)) return 0;
      }
      at = space(at);
      const next = comma(at);
      if (next == 0) return 0;
      if (next == 1) break;
      at = next;
    }
  }
  // guard(false): missing fields are reported
  if (required != load<u16>(rules + REQUIRED_COUNT) && !departMissing(rules)) return 0;
  kind = OBJECT;
  return at + 1;
}

/** The value of a field of the catalog. @param level the nesting level of the value if it is an array or object. */
function field(at: usize, entry: usize, level: u32): usize {
  const wanted: u32 = load<u8>(entry + KIND);
  const first: u32 = load<u8>(at);
  if (wanted == OBJECT && first == OPEN_OBJECT) return fields(at + 1, load<u16>(entry + CHILD), level);
  const end = value(at, level);
  if (end == 0) return 0;
  if (load<u8>(entry + CAPTURE) != NO_CAPTURE) capture(entry, at, u32(end - at));
  if (kind == wanted) return end;
  if (kind == ARRAY) {
    if (wanted == STRINGS && (itemKinds & ~(1 << STRING)) == 0) return end;
    if (wanted == NUMBERS && (itemKinds & ~(1 << NUMBER)) == 0) return end;
  }
  return depart(WRONG_TYPE, kind, numberOf(entry), 0, 0) ? end : 0;
}

function numberOf(entry: usize): u32 {
  return u32(entry - ENTRIES) / ENTRY_BYTES;
}

/** Records that the body has the member of an entry. @returns false if the entry was seen before. */
function mark(entry: usize): bool {
  const index = numberOf(entry);
  const at = SEEN + (index >> 3);
  const bit: u32 = 1 << (index & 7);
  const before: u32 = load<u8>(at);
  store<u8>(at, before | bit);
  return (before & bit) == 0;
}

/** Records a departure from the catalog. @returns false if there are too many. */
function depart(departure: u32, found: u32, place: u32, name: usize, length: u32): bool {
  const count = load<u32>(DEPARTURE_COUNT);
  if (count == MAX_DEPARTURES) return false;
  store<u32>(DEPARTURE_COUNT, count + 1);
  const at = DEPARTURES + count * 20;
  store<u32>(at, departure);
  store<u32>(at + 4, found);
  store<u32>(at + 8, place);
  store<u32>(at + 12, u32(name - INPUT));
  store<u32>(at + 16, length);
  return true;
}

function departMissing(rules: usize): bool {
  const first: usize = load<u32>(rules + FIRST);
  const end = first + load<u16>(rules + COUNT) * ENTRY_BYTES;
  for (let entry = first; entry < end; entry += ENTRY_BYTES) {
    if (!load<u8>(entry + IS_REQUIRED)) continue;
    const index = numberOf(entry);
    if (load<u8>(SEEN + (index >> 3)) & (1 << (index & 7))) continue;
    if (!depart(MISSING_FIELD, 0, index, 0, 0)) return false;
  }
  return true;
}

const FACTOR: u64 = 0x9e3779b97f4a7c15;

function hashOf(at: usize, length: u32): u32 {
  if (length == 0) return 0;
  let hash: u64;
  if (length < 8) hash = load<u64>(at) << (64 - 8 * length);
  else {
    hash = load<u64>(at);
    for (let next: u32 = 8; next < length; next += 8) {
      hash = rotl<u64>(hash * FACTOR, 29) ^ load<u64>(at + min<u32>(next, length - 8));
    }
  }
  hash = (hash ^ length) * FACTOR;
  return u32(hash >> 32) ^ u32(hash);
}

function slotOf(context: u32, at: usize, length: u32): u32 {
  const hash = hashOf(at, length) ^ (context * 0x85ebca6b);
  return (hash ^ (hash >> 15)) & (MAX_FIELD_SLOTS - 1);
}

function isEqual(one: usize, other: usize, length: u32): bool {
  if (length < 8) return length == 0 || (load<u64>(one) ^ load<u64>(other)) << (64 - 8 * length) == 0;
  for (let at: u32 = 0; at < length; at += 8) {
    const from = min<u32>(at, length - 8);
    if (load<u64>(one + from) != load<u64>(other + from)) return false;
  }
  return true;
}

/** The entry of a name in a context, or 0. */
function find(context: u32, name: usize, length: u32): usize {
  let slot = slotOf(context, name, length);
  while (true) {
    const entry: usize = load<u32>(FIELD_SLOTS + slot * 4);
    if (entry == 0) return 0;
    const isSame = load<u16>(entry + CONTEXT) == context && load<u16>(entry + NAME_LENGTH) == length;
    // guard(left): a name is looked up by all its bytes
    if (isSame && isEqual(load<u32>(entry + NAME), name, length)) return entry;
    slot = (slot + 1) & (MAX_FIELD_SLOTS - 1);
  }
}

/**
 * Records the name that was skipped last as a name of an object.
 * @returns false if the object has this name already, or if the table is too full to tell.
 */
function claim(object: u32): bool {
  if (++names > MAX_NAMES) return false;
  const hash = hashOf(nameAt, nameLength) ^ (object * 0x85ebca6b);
  let slot = (hash ^ (hash >> 13)) & (MAX_NAME_SLOTS - 1);
  for (let examined: u32 = 0; examined < MAX_EXAMINED_SLOTS; examined++) {
    const at = NAME_SLOTS + slot * NAME_SLOT_BYTES;
    if (load<u32>(at) != generation) {
      store<u32>(at, generation);
      store<u32>(at + 4, object);
      store<u32>(at + 8, nameAt);
      store<u32>(at + 12, nameLength);
      return true;
    }
    const isSame = load<u32>(at + 4) == object && load<u32>(at + 12) == nameLength;
    if (isSame && isEqual(load<u32>(at + 8), nameAt, nameLength)) return false;
    slot = (slot + 1) & (MAX_NAME_SLOTS - 1);
  }
  return false;
}
