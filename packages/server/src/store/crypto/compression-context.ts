/**
 * Contexts of zstd. A context loads its dictionary once, because loading takes longer than compressing an event. The
 * output for a text does not depend on earlier texts. It is one frame. If this frame fills the output buffer
 * (`chunkSize`) exactly, an empty frame follows, which decompresses to nothing.
 */
import zlib, { type ZstdCompress } from "node:zlib";
import { ZstdCompress as ImmediateZstdCompress, ZstdDecompress as ImmediateZstdDecompress } from "minizlib";

const OPTIONS = {
  flush: zlib.constants.ZSTD_e_end,
  chunkSize: 65_536,
  params: { [zlib.constants.ZSTD_c_compressionLevel]: 1, [zlib.constants.ZSTD_c_dictIDFlag]: 0 },
};

const OTHER_OUTPUT = "the compressor's output does not belong to its input";

const joined = (chunks: readonly Buffer[]): Buffer =>
  chunks[0] !== undefined && chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);

/** A context on the caller's thread. */
export class ImmediateContext {
  readonly #dictionary: Buffer;
  /** Absent before the first text, and after an error. */
  #stream: ImmediateZstdCompress | undefined;
  #output: Buffer[] = [];
  #error: unknown;

  constructor(dictionary: Buffer) {
    this.#dictionary = dictionary;
  }

  /**
   * @throws the error of zstd, or an error if the frame does not state the size of `bytes`. The next call uses a new
   * context.
   */
  compress(bytes: Uint8Array): Buffer {
    const stream = (this.#stream ??= this.#open());
    stream.write(bytes);
    const frame = joined(this.#output);
    const error = this.#error ?? (sizeIn(frame) === bytes.length ? undefined : new Error(OTHER_OUTPUT));
    this.#output = [];
    if (error === undefined) return frame;
    this.#error = undefined;
    this.#stream = undefined;
    stream.close();
    throw error;
  }

  #open(): ImmediateZstdCompress {
    // minizlib passes all options to node:zlib, but its types declare only some of them.
    const options = { ...OPTIONS, dictionary: this.#dictionary };
    const stream = new ImmediateZstdCompress(options);
    stream.on("data", (chunk) => this.#output.push(chunk));
    stream.on("error", (error) => (this.#error = error));
    return stream;
  }
}

/** A context on a thread of libuv's pool. Takes one text at a time. */
export class ThreadContext {
  readonly #stream: ZstdCompress;
  #output: Buffer[] = [];

  constructor(dictionary: Buffer) {
    this.#stream = zlib.createZstdCompress({ ...OPTIONS, dictionary });
    this.#stream.on("data", (chunk: Buffer) => this.#output.push(chunk));
    // The callback of the write reports the error to the caller.
    this.#stream.on("error", () => {});
  }

  compress(bytes: Uint8Array): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => {
        if (error) return reject(error);
        const frame = joined(this.#output);
        this.#output = [];
        if (sizeIn(frame) === bytes.length) return resolve(frame);
        return reject(new Error(OTHER_OUTPUT));
      });
    });
  }

  destroy(): void {
    this.#stream.destroy();
  }
}

/** The largest limit of a request body that can be configured. */
const MAX_EVENT_BYTES = 16_777_216;

/** A context that decompresses frames on the caller's thread. */
export class FrameDecompressor {
  readonly #options: { readonly dictionary: Buffer; readonly chunkSize: number; readonly maxOutputLength: number };
  /** Absent before the first frame, after an error, and after a frame that did not end. */
  #stream: ImmediateZstdDecompress | undefined;
  #output: Buffer[] = [];
  #hasFailed = false;

  constructor(dictionary: Buffer) {
    this.#options = { dictionary, chunkSize: OPTIONS.chunkSize, maxOutputLength: MAX_EVENT_BYTES + 1 };
  }

  /** @throws the error of zstd. No frame has an effect on later ones. */
  decompress(frame: Buffer): Buffer {
    const size = sizeIn(frame);
    if (size === undefined || size > MAX_EVENT_BYTES) return zlib.zstdDecompressSync(frame, this.#options);
    const stream = (this.#stream ??= this.#open());
    stream.write(frame);
    const bytes = joined(this.#output);
    this.#output = [];
    // guard(true): a frame that does not end is rejected
    if (!this.#hasFailed && bytes.length === size) return bytes;
    this.#hasFailed = false;
    this.#stream = undefined;
    stream.close();
    // The reason may be that the previous frame did not end, so this frame is decompressed again, without the context.
    return zlib.zstdDecompressSync(frame, this.#options);
  }

  #open(): ImmediateZstdDecompress {
    const options = { ...this.#options, flush: zlib.constants.ZSTD_e_continue };
    const stream = new ImmediateZstdDecompress(options);
    stream.on("data", (chunk) => this.#output.push(chunk));
    stream.on("error", () => (this.#hasFailed = true));
    return stream;
  }
}

const MAGIC = 0xfd2fb528;

/** The size of the content that a frame's header states (RFC 8878 §3.1.1.1); `undefined` if it states none. */
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
