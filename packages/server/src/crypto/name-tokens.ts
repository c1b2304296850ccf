import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What a token may say of the value of its name. */
const FOLLOWING = ["", "true,", "false,"];
const FIRST_TOKEN = 0x10;
/** Names with the numbers from 0 and from 256 have tokens of their own. */
const FIRST_NUMBERED = FIRST_TOKEN + FOLLOWING.length;
const END_OF_TOKENS = FIRST_NUMBERED + 2 * FOLLOWING.length;
/** Begins a text without tokens. */
const NO_TOKENS = Buffer.of(0);

/** The largest text with tokens, as `assembly/tokens.ts` has it. */
const CAPACITY = 262_144;
/** Used by one call at a time. */
const scratch = new Uint8Array(CAPACITY);

/** A text with tokens. */
export interface Encoded {
  readonly text: Buffer;
  /** The numbers of names, modulo 256, of which a token does not say it. */
  readonly numbers: Buffer;
}

/** The exports of `assembly/tokens.ts`. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly define: (length: number) => void;
  readonly encode: (length: number) => number;
  readonly INPUT: { readonly value: number };
  readonly OUTPUT: { readonly value: number };
  readonly NUMBERS: { readonly value: number };
  readonly numbered: { readonly value: number };
}

/** What is used of the JavaScript API of WebAssembly, for which Node has no types. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

/**
 * Writes a token in place of each known name of a member of a JSON text: of its quotes, its colon and, if that is `true`
 * or `false` with a comma, its value. A token is a control character, which no JSON text has. Most of an event are names,
 * and a general compression spends more on each of them.
 *
 * Names are numbered. The tokens from 10 to 12 (hexadecimal) are the name after the one before: with any value, true,
 * false. The first name comes after none. Those from 13 to 18 are the name with the next one of the separate numbers,
 * with any value, true, false, twice each: the second one means 256 more. All other bytes are the text's own. A first
 * byte of 0 is followed by a text without tokens.
 *
 * The numbers are separate because a compression would encode them and the characters of the text with one code.
 */
export class NameTokens {
  readonly #count: number;
  /** The texts of each kind of token, by the names' numbers, and where each ends: that is where the next one starts. */
  readonly #texts: Uint8Array;
  readonly #ends: Uint32Array;
  readonly #encoder: Encoder | undefined;

  /** @param names up to 512, in the order of their numbers. */
  constructor(names: readonly string[]) {
    const texts = FOLLOWING.flatMap((following) => names.map((name) => `"${name}":${following}`));
    let end = 0;
    this.#count = names.length;
    this.#ends = Uint32Array.of(0, ...texts.map((text) => (end += Buffer.byteLength(text))));
    this.#texts = new Uint8Array(Buffer.from(texts.join("")));
    this.#encoder = openEncoder(names);
  }

  encode(text: Uint8Array): Encoded {
    return this.#encoder?.encode(text) ?? { text: Buffer.concat([NO_TOKENS, text]), numbers: Buffer.alloc(0) };
  }

  /** @throws for what `encode` did not make with these names. */
  decode({ text, numbers }: Encoded): Buffer {
    if (text[0] === 0) return text.subarray(1);
    const [texts, ends, count, decoded] = [this.#texts, this.#ends, this.#count, scratch];
    let name = -1;
    let used = 0;
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      const byte = text[at] as number;
      if (byte < FIRST_TOKEN || byte >= END_OF_TOKENS) {
        decoded[end++] = byte;
        continue;
      }
      let kind = byte - FIRST_TOKEN;
      if (byte < FIRST_NUMBERED) name++;
      else {
        const numbered = byte - FIRST_NUMBERED;
        kind = numbered >> 1;
        name = (numbers[used++] ?? Number.NaN) + 256 * (numbered & 1);
      }
      if (!(name < count)) throw new Error("a token is not known");
      const token = kind * count + name;
      const textEnd = ends[token + 1] as number;
      for (let from = ends[token] as number; from < textEnd; from++) decoded[end++] = texts[from] as number;
    }
    if (end > decoded.length) throw new RangeError("a text with tokens is too large");
    if (used !== numbers.length) throw new Error("a name has no token");
    return Buffer.from(decoded.subarray(0, end));
  }
}

class Encoder {
  readonly #exports: Exports;
  readonly #memory: Buffer;

  constructor(exports: Exports, names: readonly string[]) {
    this.#exports = exports;
    this.#memory = Buffer.from(exports.memory.buffer);
    for (const name of names) exports.define(this.#memory.write(name, exports.INPUT.value));
  }

  /** @returns `undefined` for a text that can have no tokens. */
  encode(text: Uint8Array): Encoded | undefined {
    const { INPUT, OUTPUT, NUMBERS, numbered } = this.#exports;
    if (text.length > CAPACITY) return undefined;
    this.#memory.set(text, INPUT.value);
    const length = this.#exports.encode(text.length);
    if (length === 0) return undefined;
    return { text: this.#copy(OUTPUT.value, length), numbers: this.#copy(NUMBERS.value, numbered.value) };
  }

  #copy(at: number, length: number): Buffer {
    return Buffer.from(this.#memory.subarray(at, at + length));
  }
}

/** None where the runtime has no WebAssembly with SIMD: names then stay as they are. */
function openEncoder(names: readonly string[]): Encoder | undefined {
  try {
    const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
    const { exports } = new Instance(new Module(readFileSync(join(import.meta.dirname, "tokens.wasm"))));
    return new Encoder(exports as Exports, names);
  } catch {
    return undefined;
  }
}
