import { readFileSync } from "node:fs";
import { join } from "node:path";
import { constants, createZstdCompress, type ZstdCompress, zstdDecompressSync } from "node:zlib";

/**
 * Dictionaries by version. A version is written into every payload, so none is ever changed or removed.
 * `dictionaries/README.md` describes how they are trained.
 */
const DICTIONARIES: ReadonlyMap<number, Buffer> = new Map(
  [1].map((version) => [version, readFileSync(join(import.meta.dirname, "dictionaries", `${version}.zdict`))]),
);
const CURRENT = 1;

/** The largest limit of a request body that can be configured. */
const MAX_EVENT_BYTES = 16_777_216;

/** Number of compressors at work, each on a thread of libuv's pool. */
const LANES = 2;

/**
 * Each write is a frame of its own, all of one context: loading the dictionary costs more than compressing an event
 * does, and this way it is done once.
 */
const OPTIONS = {
  flush: constants.ZSTD_e_end,
  chunkSize: 65_536,
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_dictIDFlag]: 0 },
};

export interface Compressed {
  /** Version of the dictionary. */
  readonly dictionary: number;
  readonly bytes: Buffer;
}

/** Compresses events, each into a frame of its own, off the main thread. */
export class Compressor {
  readonly #lanes = Array.from({ length: LANES }, () => new Lane());
  #next = 0;

  async compress(bytes: Uint8Array): Promise<Compressed> {
    const lane = this.#lanes[this.#next] as Lane;
    this.#next = (this.#next + 1) % LANES;
    return { dictionary: CURRENT, bytes: await lane.compress(bytes) };
  }
}

/** One compression context. Writes are processed in order; the output between two callbacks is one frame. */
class Lane {
  #stream = this.#open();
  #output: Buffer[] = [];

  compress(bytes: Uint8Array): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const stream = this.#stream;
      stream.write(bytes, (error) => {
        if (error) return reject(error);
        const [first, ...rest] = this.#output;
        const frame = first !== undefined && rest.length === 0 ? first : Buffer.concat(this.#output);
        this.#output = [];
        if (sizeIn(frame) === bytes.length) return resolve(frame);
        stream.destroy();
        return reject(new Error("the compressor's output does not belong to its input"));
      });
    });
  }

  #open(): ZstdCompress {
    const stream = createZstdCompress({ ...OPTIONS, dictionary: DICTIONARIES.get(CURRENT) });
    stream.on("data", (chunk: Buffer) => this.#output.push(chunk));
    // The call-back of the write reports the error to the caller; the next write uses a new stream.
    stream.on("error", () => {});
    stream.on("close", () => {
      this.#output = [];
      this.#stream = this.#open();
    });
    return stream;
  }
}

const MAGIC = 0xfd2fb528;

/** The size of the content that a frame's head announces (RFC 8878 §3.1.1.1); `undefined` where it announces none. */
function sizeIn(frame: Buffer): number | undefined {
  if (frame.length < 6 || frame.readUInt32LE(0) !== MAGIC) return undefined;
  const descriptor = frame.readUInt8(4);
  const singleSegment = (descriptor & 0x20) !== 0;
  const at = 5 + (singleSegment ? 0 : 1);
  switch (descriptor >> 6) {
    case 1:
      return frame.readUInt16LE(at) + 256;
    case 2:
      return frame.readUInt32LE(at);
    case 3:
      return Number(frame.readBigUInt64LE(at));
    default:
      return singleSegment ? frame.readUInt8(at) : undefined;
  }
}

/** @throws for bytes that `compress` did not make, or a dictionary of a later version. */
export function decompress({ dictionary, bytes }: Compressed): Buffer {
  const known = DICTIONARIES.get(dictionary);
  if (!known) throw new Error(`dictionary ${dictionary} is not known to this version`);
  return zstdDecompressSync(bytes, { dictionary: known, maxOutputLength: MAX_EVENT_BYTES });
}
