/**
 * Replaces each known member name of a JSON text by a token, and replaces tokens by the names again: AssemblyScript,
 * which `npm run generate:scanner` compiles to `src/tokens.wasm`. The names come from the caller (`define`).
 * `src/name-tokens.ts` has the format.
 *
 * Text between tokens is copied unchanged, so the text need not be valid JSON. Memory is laid out by hand and never
 * grows. 64 blanks follow the text, so that a read beyond its end finds no token and no end of a name.
 */

/** The largest text. */
const CAPACITY: u32 = 262_144;
const SLACK: usize = 64;
const MAX_NAMES: u32 = 512;
const MAX_NAME_BYTES: usize = 32_768;
const SLOT_COUNT: u32 = 4_096;

// The layout of the memory.
const SLOTS: usize = 1_024;
const ENTRIES: usize = SLOTS + SLOT_COUNT * 2;
const NAMES: usize = ENTRIES + MAX_NAMES * 8;
export const INPUT: usize = NAMES + MAX_NAME_BYTES;
export const OUTPUT: usize = INPUT + CAPACITY + SLACK;
export const NUMBERS: usize = OUTPUT + CAPACITY + SLACK;
/** `NUMBERS` has at most one byte for each token, and a token replaces at least four bytes. */
export const MEMORY_END: usize = NUMBERS + CAPACITY / 4;

const FIRST_TOKEN: i8 = 0x10;
const TOKENS: i8 = 9;
/**
 * The first token for a name whose number does not follow the number of the previous name. The low byte of the name's
 * number, counted from 0, is at `NUMBERS`; for numbers from 256 on, the token is one higher.
 */
const FIRST_NUMBERED: u32 = 0x13;

// The value after a name, which the token includes.
const ANY_VALUE: u32 = 0;
const TRUE: u32 = 1;
const FALSE: u32 = 2;

const QUOTE: i8 = 0x22;
const COMMA: u32 = 0x2c;
const COLON: i8 = 0x3a;

/** The number of bytes at `NUMBERS`. */
export let numbered: u32 = 0;

let nameCount: u32 = 0;
let nameBytes: usize = 0;

/** Gives the next number to the name at `INPUT`. */
export function define(length: u32): void {
  if (nameCount == MAX_NAMES || nameBytes + length + 8 > MAX_NAME_BYTES) unreachable();
  const name = NAMES + nameBytes;
  memory.copy(name, INPUT, length);
  nameBytes += length;
  store<u32>(ENTRIES + nameCount * 8, name);
  store<u32>(ENTRIES + nameCount * 8 + 4, length);
  let slot = slotOf(name, length);
  while (load<u16>(SLOTS + slot * 2)) slot = (slot + 1) & (SLOT_COUNT - 1);
  store<u16>(SLOTS + slot * 2, ++nameCount);
}

/**
 * Encodes the text at `INPUT`. It writes the text with tokens to `OUTPUT`, and numbers of names to `NUMBERS`.
 *
 * @returns the number of bytes at `OUTPUT`, at most the length of the text; 0 for a text that can't be encoded.
 */
export function encode(length: u32): u32 {
  if (length > CAPACITY || load<u8>(INPUT) == 0) return 0;
  const end = INPUT + length;
  memory.fill(end, 0x20, SLACK);
  let out = OUTPUT;
  let copied: usize = INPUT;
  let lastQuote: usize = 0;
  let lastName: u32 = 0;
  let numbers: usize = NUMBERS;
  let reserved = i8x16.splat(0);
  for (let from: usize = INPUT; from < end; from += 16) {
    const chunk = v128.load(from);
    reserved = v128.or(reserved, i8x16.lt_u(i8x16.sub(chunk, i8x16.splat(FIRST_TOKEN)), i8x16.splat(TOKENS)));
    const isQuote = i8x16.eq(chunk, i8x16.splat(QUOTE));
    const quotes = i8x16.bitmask(isQuote);
    let closings = i8x16.bitmask(v128.and(isQuote, i8x16.eq(v128.load(from + 1), i8x16.splat(COLON))));
    while (closings != 0) {
      const place = ctz(closings);
      const at = from + place;
      closings &= closings - 1;
      const before = quotes & ((1 << place) - 1);
      const opening = before ? from + 31 - clz(before) : lastQuote;
      if (opening >= copied) {
        const number = find(opening + 1, u32(at - opening) - 1);
        if (number) {
          out = copy(out, copied, opening);
          copied = at + 2;
          let following = ANY_VALUE;
          // `true,` and `false,`
          if (load<u32>(copied) == 0x65757274 && load<u8>(copied + 4) == COMMA) {
            following = TRUE;
            copied += 5;
          } else if (load<u32>(copied) == 0x736c6166 && load<u16>(copied + 4) == 0x2c65) {
            following = FALSE;
            copied += 6;
          }
          if (number == lastName + 1) store<u8>(out++, u32(FIRST_TOKEN) + following);
          else {
            store<u8>(out++, FIRST_NUMBERED + 2 * following + ((number - 1) >> 8));
            store<u8>(numbers++, number - 1);
          }
          lastName = number;
        }
      }
    }
    if (quotes) lastQuote = from + 31 - clz(quotes);
  }
  // guard(false): a text that contains bytes of tokens is not encoded
  if (v128.any_true(reserved)) return 0;
  numbered = u32(numbers - NUMBERS);
  return u32(copy(out, copied, end) - OUTPUT);
}

/** The errors of `decode`. A text that was encoded with other names may be decoded to wrong bytes without an error. */
export const NOT_KNOWN: i32 = -1;
export const NUMBERS_LEFT: i32 = -2;
export const TOO_LARGE: i32 = -3;

/**
 * Decodes the text at `INPUT`, with the numbers of names at `NUMBERS`, and writes the text with names to `OUTPUT`.
 *
 * @returns the number of bytes at `OUTPUT`, or one of the errors above.
 */
export function decode(length: u32, count: u32): i32 {
  if (length > CAPACITY || count > CAPACITY / 4) return TOO_LARGE;
  const end = INPUT + length;
  memory.fill(end, 0x20, SLACK);
  const limit = OUTPUT + CAPACITY;
  const numbersEnd = NUMBERS + count;
  let out = OUTPUT;
  let numbers: usize = NUMBERS;
  let name: u32 = 0;
  let from: usize = INPUT;
  while (from < end) {
    // The last name may be written beyond the output, into `NUMBERS`, before this check returns an error.
    // guard(false): texts are not written beyond the output
    if (out > limit) return TOO_LARGE;
    const chunk = v128.load(from);
    v128.store(out, chunk);
    const places = i8x16.bitmask(i8x16.lt_u(i8x16.sub(chunk, i8x16.splat(FIRST_TOKEN)), i8x16.splat(TOKENS)));
    const place = places ? ctz(places) : 16;
    out += place;
    from += place;
    if (!places) continue;
    let following: u32 = load<u8>(from++) - u32(FIRST_TOKEN);
    if (following > FALSE) {
      // guard(false): a token without its number is not decoded
      if (numbers == numbersEnd) return NOT_KNOWN;
      const numbered = following - FALSE - 1;
      following = numbered >> 1;
      name = load<u8>(numbers++) + 256 * (numbered & 1);
    }
    // guard(false): a number beyond the names is not decoded
    if (name >= nameCount) return NOT_KNOWN;
    const entry = ENTRIES + name++ * 8;
    const start: usize = load<u32>(entry);
    const nameLength: usize = load<u32>(entry + 4);
    store<u8>(out, u8(QUOTE));
    out = copy(out + 1, start, start + nameLength);
    // `":`, then `true,` or `false,`
    store<u16>(out, 0x3a22);
    out += 2;
    if (following == TRUE) {
      store<u32>(out, 0x65757274);
      store<u8>(out + 4, u8(COMMA));
      out += 5;
    } else if (following == FALSE) {
      store<u32>(out, 0x736c6166);
      store<u16>(out + 4, 0x2c65);
      out += 6;
    }
  }
  out -= from - end;
  // guard(false): no number is without its token
  if (numbers != numbersEnd) return NUMBERS_LEFT;
  return out > limit ? TOO_LARGE : i32(out - OUTPUT);
}

/**
 * Copies blocks of 16 bytes. The next copy overwrites the bytes beyond the end, or they are in the slack. @returns the
 * end of the copy.
 */
function copy(to: usize, from: usize, end: usize): usize {
  const copiedEnd = to + (end - from);
  while (from < end) {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  }
  return copiedEnd;
}

const FACTOR: u64 = 0x9e3779b97f4a7c15;

/** Hashes the length and up to 16 bytes of a name: the first eight, and the last eight. */
function slotOf(name: usize, length: u32): u32 {
  const first = load<u64>(name);
  const hash =
    length < 8 ? first << (64 - 8 * max<u32>(length, 1)) : rotl<u64>(first * FACTOR, 29) ^ load<u64>(name + length - 8);
  const mixed = (hash ^ length) * FACTOR;
  return u32(mixed >> 40) & (SLOT_COUNT - 1);
}

function isEqual(one: usize, other: usize, length: u32): bool {
  if (length < 8) return length == 0 || (load<u64>(one) ^ load<u64>(other)) << (64 - 8 * length) == 0;
  for (let at: u32 = 0; at < length; at += 8) {
    const from = min<u32>(at, length - 8);
    if (load<u64>(one + from) != load<u64>(other + from)) return false;
  }
  return true;
}

/** The number of a name, counted from 1, or 0. */
function find(name: usize, length: u32): u32 {
  let slot = slotOf(name, length);
  while (true) {
    const number: u32 = load<u16>(SLOTS + slot * 2);
    if (number == 0) return 0;
    const entry = ENTRIES + (number - 1) * 8;
    if (load<u32>(entry + 4) == length && isEqual(load<u32>(entry), name, length)) return number;
    slot = (slot + 1) & (SLOT_COUNT - 1);
  }
}
