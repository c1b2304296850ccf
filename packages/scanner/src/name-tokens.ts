import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type WebAssemblyApi, webAssembly } from "./web-assembly.ts";

/** The values of a name that a token can include. */
const TOKEN_SUFFIXES = ["", "true,", "false,"];
const FIRST_TOKEN = 0x10;
/**
 * From this token on, the number of the name is stored apart from the text. Each suffix has two tokens: one for numbers
 * below 256, and one for numbers from 256 on.
 */
const FIRST_NUMBERED = FIRST_TOKEN + TOKEN_SUFFIXES.length;
const END_OF_TOKENS = FIRST_NUMBERED + 2 * TOKEN_SUFFIXES.length;
/** The first byte of a text without tokens. */
const NO_TOKENS = Buffer.of(0);

/** The maximum length of a text with tokens, as in `assembly/tokens.ts`. */
const CAPACITY = 262_144;
/** A buffer for the result of a call, which the call copies before it returns. */
const scratchBuffer = new Uint8Array(CAPACITY);

/** A text with tokens. It is valid until its encoder is called again. */
export interface Encoded {
  readonly text: Buffer;
  /** The numbers of names, modulo 256, for tokens that do not imply the number. */
  readonly numbers: Buffer;
}

export interface TokenEncoder {
  encode(text: Uint8Array): Encoded;
}

export interface TokenDecoder {
  /**
   * If the text was encoded with other names, the result may be wrong.
   * @throws if a token has no known name, if a number has no token, or if the text or the result is too large.
   */
  decode(encoded: Encoded): Buffer;
}

/** The exports of `assembly/tokens.ts`. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly define: (length: number) => void;
  readonly encode: (length: number) => number;
  readonly decode: (length: number, count: number) => number;
  readonly NOT_KNOWN: { readonly value: number };
  readonly NUMBERS_LEFT: { readonly value: number };
  readonly INPUT: { readonly value: number };
  readonly OUTPUT: { readonly value: number };
  readonly NUMBERS: { readonly value: number };
  readonly numbered: { readonly value: number };
}

/**
 * Replaces each known member name of a JSON text by a token, with its quotes and its colon. If the value is `true` or
 * `false` and a comma follows, the token includes both. Each token is one of the bytes 10 to 18 (hexadecimal), control
 * characters that no valid JSON text contains. Names take most of the space of an event, and a general-purpose
 * compressor needs more space for a name than a token takes.
 *
 * Names are numbered. The tokens 10, 11 and 12 (hexadecimal) are the name whose number follows that of the previous
 * token: with any value, with `true`, with `false`. If the first token is one of them, it is the name 0. The tokens 13
 * to 18 are the name whose number is the next of the separate numbers: 13 and 14 with any value, 15 and 16 with `true`,
 * 17 and 18 with `false`. The second token of each pair adds 256 to the number. All other bytes are those of the text.
 * If the first byte is 0, the rest is a text without tokens.
 *
 * The numbers are stored apart from the text, because a compressor would otherwise encode the numbers and the
 * characters of the text with one code.
 */
export class NameTokens {
  readonly #count: number;
  /**
   * The texts of each kind of token, by the numbers of the names, and the end of each text, which is the start of the
   * next one.
   */
  readonly #texts: Uint8Array;
  readonly #ends: Uint32Array;
  readonly #names: readonly string[];

  /** @param names up to 512, in the order of their numbers. */
  constructor(names: readonly string[]) {
    const texts = TOKEN_SUFFIXES.flatMap((following) => names.map((name) => `"${name}":${following}`));
    let end = 0;
    this.#names = names;
    this.#count = names.length;
    this.#ends = Uint32Array.of(0, ...texts.map((text) => (end += Buffer.byteLength(text))));
    this.#texts = new Uint8Array(Buffer.from(texts.join("")));
  }

  /**
   * Without WebAssembly with SIMD, names stay as they are.
   * @throws the error of a compiled module that can't be loaded. If such an error were ignored, events would need more
   * space, and no operator would notice it.
   */
  openEncoder(runtime = webAssembly()): TokenEncoder {
    return runtime?.validate(SMALLEST_SIMD) ? new WasmEncoder(this.#names, runtime) : { encode: withoutTokens };
  }

  /**
   * Without WebAssembly with SIMD, the decoder is in JavaScript, and takes four times as long.
   * @throws the error of a compiled module that can't be loaded.
   */
  openDecoder(runtime = webAssembly()): TokenDecoder {
    const decoder = runtime?.validate(SMALLEST_SIMD)
      ? new WasmDecoder(this.#names, runtime)
      : { decode: (encoded: Encoded) => this.#decode(encoded) };
    return { decode: (encoded) => (encoded.text[0] === 0 ? encoded.text.subarray(1) : decoder.decode(encoded)) };
  }

  #decode({ text, numbers }: Encoded): Buffer {
    // A text with tokens is never longer than its result, so a text that is longer than the largest result is wrong.
    if (text.length > CAPACITY) throw new RangeError(TOO_LARGE);
    const [texts, ends, count, decoded] = [this.#texts, this.#ends, this.#count, scratchBuffer];
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
      if (!(name < count)) throw new Error(NOT_KNOWN);
      const token = kind * count + name;
      const textEnd = ends[token + 1] as number;
      for (let from = ends[token] as number; from < textEnd; from++) decoded[end++] = texts[from] as number;
    }
    if (end > decoded.length) throw new RangeError(TOO_LARGE);
    if (used !== numbers.length) throw new Error(NUMBERS_LEFT);
    return Buffer.from(decoded.subarray(0, end));
  }
}

const TOO_LARGE = "a text with tokens is too large";
const NOT_KNOWN = "a token is not known";
const NUMBERS_LEFT = "a number of a name has no token";

const withoutTokens = (text: Uint8Array): Encoded => ({
  text: Buffer.concat([NO_TOKENS, text]),
  numbers: Buffer.alloc(0),
});

/** An instance of the compiled module, with its names. */
class WasmTokens {
  readonly exports: Exports;
  readonly memory: Buffer;

  constructor(names: readonly string[], runtime: WebAssemblyApi) {
    this.exports = new runtime.Instance(compiled(runtime)).exports as Exports;
    this.memory = Buffer.from(this.exports.memory.buffer);
    for (const name of names) this.exports.define(this.memory.write(name, this.exports.INPUT.value));
  }
}

/** An encoder that returns parts of its memory, because a new buffer for each event would be garbage of several KB. */
class WasmEncoder implements TokenEncoder {
  readonly #wasm: WasmTokens;

  constructor(names: readonly string[], runtime: WebAssemblyApi) {
    this.#wasm = new WasmTokens(names, runtime);
  }

  encode(text: Uint8Array): Encoded {
    const { exports, memory } = this.#wasm;
    const { INPUT, OUTPUT, NUMBERS, numbered } = exports;
    if (text.length > CAPACITY) return withoutTokens(text);
    memory.set(text, INPUT.value);
    const length = exports.encode(text.length);
    if (length === 0) return withoutTokens(text);
    return {
      text: memory.subarray(OUTPUT.value, OUTPUT.value + length),
      numbers: memory.subarray(NUMBERS.value, NUMBERS.value + numbered.value),
    };
  }
}

class WasmDecoder implements TokenDecoder {
  readonly #wasm: WasmTokens;

  constructor(names: readonly string[], runtime: WebAssemblyApi) {
    this.#wasm = new WasmTokens(names, runtime);
  }

  decode({ text, numbers }: Encoded): Buffer {
    const { exports, memory } = this.#wasm;
    // A token takes the place of four bytes or more.
    if (text.length > CAPACITY || numbers.length > CAPACITY / 4) throw new RangeError(TOO_LARGE);
    memory.set(text, exports.INPUT.value);
    memory.set(numbers, exports.NUMBERS.value);
    const length = exports.decode(text.length, numbers.length);
    if (length === exports.NOT_KNOWN.value) throw new Error(NOT_KNOWN);
    if (length === exports.NUMBERS_LEFT.value) throw new Error(NUMBERS_LEFT);
    if (length < 0) throw new RangeError(TOO_LARGE);
    return Buffer.from(memory.subarray(exports.OUTPUT.value, exports.OUTPUT.value + length));
  }
}

/** A module with one function that uses a vector, `() => i8x16.popcnt(i8x16.splat(0))`. */
const SMALLEST_SIMD = Buffer.from("0061736d010000000105016000017b030201000a0a0108004100fd0ffd620b", "hex");

let loaded: object | undefined;

/** The module that `npm run generate:scanner` compiled. */
function compiled({ Module }: WebAssemblyApi): object {
  loaded ??= new Module(readFileSync(join(import.meta.dirname, "tokens.wasm")));
  return loaded;
}
