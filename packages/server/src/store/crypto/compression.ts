import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FrameDecompressor, ImmediateContext, ThreadContext } from "./compression-context.ts";
import { NameTokens, type TokenDecoder, type TokenEncoder } from "@device-risk-signals/scanner/name-tokens";

interface Dictionary {
  /** The content to which zstd's frames may refer. */
  readonly content: Buffer;
  readonly frames: FrameDecompressor;
  /** Absent for version 1, whose frames decompress to the bytes of the event. */
  readonly tokens?: NameTokens;
  readonly decoder?: TokenDecoder;
}

const readDictionary = (file: string): Buffer => readFileSync(join(import.meta.dirname, "dictionaries", file));

function openDictionary(file: string): Dictionary {
  const content = readDictionary(file);
  return { content, frames: new FrameDecompressor(content) };
}

/**
 * Dictionaries by version. Every payload names the version of its dictionary, so a version is never changed or removed.
 * `dictionaries/README.md` describes how they are made.
 */
const DICTIONARIES: Readonly<Record<number, () => Dictionary>> = {
  1: () => openDictionary("1.zdict"),
  2: () => {
    const tokens = new NameTokens(readDictionary("2.names").toString().trim().split(/\s+/));
    return { ...openDictionary("2.zdict"), tokens, decoder: tokens.openDecoder() };
  },
};
const CURRENT_DICTIONARY = 2;

const loaded = new Map<number, Dictionary>();

/** @throws if this release does not know the version. */
function dictionaryOf(version: number): Dictionary {
  const known = loaded.get(version) ?? DICTIONARIES[version]?.();
  if (!known) throw new Error(`dictionary ${version} is not known to this version`);
  loaded.set(version, known);
  return known;
}

/** Texts up to this size are compressed on the main thread. A longer text would delay other requests. */
const AT_ONCE_BYTES = 32_768;

/** Number of compressors for longer texts. Each uses a thread of libuv's pool. */
const MAX_PARALLEL = 2;

export interface Compressed {
  /** The version of the dictionary. */
  readonly dictionary: number;
  readonly bytes: Buffer;
}

/** Compresses each event into a separate frame. Long events are compressed off the main thread. */
export class Compressor {
  readonly #version: number;
  readonly #dictionary: Dictionary;
  readonly #encoder: TokenEncoder | undefined;
  readonly #context: ImmediateContext;
  /** Opened for the first long event, because most servers never receive one. */
  #lanes: readonly Lane[] = [];
  #next = 0;

  /** @param version of the dictionary. */
  constructor(version = CURRENT_DICTIONARY) {
    this.#version = version;
    this.#dictionary = dictionaryOf(version);
    this.#encoder = this.#dictionary.tokens?.openEncoder();
    this.#context = new ImmediateContext(this.#dictionary.content);
  }

  async compress(bytes: Uint8Array): Promise<Compressed> {
    const compressed = bytes.length <= AT_ONCE_BYTES ? this.#compressAtOnce(bytes) : this.#lane().compress(bytes);
    return { dictionary: this.#version, bytes: await compressed };
  }

  #compressAtOnce(bytes: Uint8Array): Buffer {
    if (!this.#encoder) return this.#context.compress(bytes);
    const { text, numbers } = this.#encoder.encode(bytes);
    return joinNumbers(numbers, this.#context.compress(text));
  }

  #lane(): Lane {
    if (this.#lanes.length === 0) this.#lanes = Array.from({ length: MAX_PARALLEL }, () => new Lane(this.#dictionary));
    this.#next = (this.#next + 1) % MAX_PARALLEL;
    return this.#lanes[this.#next] as Lane;
  }
}

/** One compression context and one encoder of names. Their memory is used for one event at a time. */
class Lane {
  readonly #encoder: TokenEncoder | undefined;
  readonly #dictionary: Buffer;
  #context: ThreadContext;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ content, tokens }: Dictionary) {
    this.#encoder = tokens?.openEncoder();
    this.#dictionary = content;
    this.#context = new ThreadContext(content);
  }

  compress(bytes: Uint8Array): Promise<Buffer> {
    const result = this.#last.then(() => this.#compressNext(bytes));
    this.#last = result.catch(() => {
      this.#context.destroy();
      this.#context = new ThreadContext(this.#dictionary);
    });
    return result;
  }

  async #compressNext(bytes: Uint8Array): Promise<Buffer> {
    if (!this.#encoder) return await this.#context.compress(bytes);
    const { text, numbers } = this.#encoder.encode(bytes);
    return joinNumbers(numbers, await this.#context.compress(text));
  }
}

/**
 * @throws if zstd rejects the frame, if a token is not known, or if this release does not know the version of the
 * dictionary. A changed frame may decompress to other bytes without an error.
 */
export function decompress({ dictionary, bytes }: Compressed): Buffer {
  const { frames, decoder } = dictionaryOf(dictionary);
  if (!decoder) return frames.decompress(bytes);
  const { numbers, frame } = splitNumbers(bytes);
  return decoder.decode({ text: frames.decompress(frame), numbers });
}

/**
 * Puts the numbers that identify names before a frame. The result is their length in bytes (2 bytes, little-endian),
 * the numbers, and the frame.
 */
function joinNumbers(numbers: Buffer, frame: Buffer): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16LE(numbers.length);
  return Buffer.concat([count, numbers, frame]);
}

function splitNumbers(bytes: Buffer): { numbers: Buffer; frame: Buffer } {
  const end = 2 + bytes.readUInt16LE(0);
  return { numbers: bytes.subarray(2, end), frame: bytes.subarray(end) };
}
