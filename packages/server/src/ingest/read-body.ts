import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { type Gunzip, gunzip, type ZlibOptions } from "node:zlib";
import { HostMisuse } from "../base/errors/host-misuse.ts";
import type { BodyHeaders } from "./headers.ts";
import { type ByteStream, type RejectedRequest, rejectRequest } from "./request.ts";

/** With `info`, zlib also returns its engine, in addition to the output. The published type lacks this overload. */
type Inflate = (raw: Buffer, options: ZlibOptions & { info: true }) => Promise<{ buffer: Buffer; engine: Gunzip }>;

const inflate = promisify(gunzip) as unknown as Inflate;

/** Compressed bytes may exceed the limit by no more than the frame that gzip adds to incompressible data. */
const GZIP_OVERHEAD = 65_536;

export interface BodyLimits {
  /** Maximum number of bytes after decompression. */
  readonly maxBodyBytes: number;
  /**
   * Time in milliseconds for the body to arrive in an embedding host. The standalone server limits the time of the whole
   * request.
   */
  readonly bodyTimeout: number;
}

/**
 * Reads the body in full, decompressed. Reading stops at the limit, and no byte beyond it is kept. A body that is known
 * to be too long is not read at all.
 * @throws HostMisuse if other code of the host has read the body or changed it.
 */
export async function readBody(
  body: ByteStream,
  { encoding, length }: BodyHeaders,
  { maxBodyBytes: limit, bodyTimeout }: BodyLimits,
): Promise<Buffer | RejectedRequest> {
  const maxRawBytes = encoding === "gzip" ? limit + GZIP_OVERHEAD : limit;
  if (length !== undefined && length > maxRawBytes) return rejectRequest("body-too-large");
  const buffer = new GrowingBuffer(body.isUnshared ?? false, length ?? 0);
  const take = (chunk: Uint8Array): boolean => {
    if (buffer.length + chunk.length > maxRawBytes) return false;
    buffer.append(chunk);
    return true;
  };
  const end = await (body.isUnshared ? body.forEach(take) : forEachWithin(bodyTimeout, body, take));
  const raw = buffer.bytes();
  if (end !== "end") {
    if (body.isUnshared) freeMemory(raw);
    return rejectRequest(UNREAD[end]);
  }
  const isChanged = length !== undefined && length !== raw.length;
  if (encoding === "gzip" && (isChanged || body.isReplaced) && isText(raw)) {
    return raw.length > limit ? rejectRequest("body-too-large") : raw;
  }
  // guard: bytes that a host has lost or added would be blamed on the client
  if (isChanged && !body.isUnshared) {
    throw new HostMisuse(
      `The endpoint received ${raw.length} bytes of a body with Content-Length ${length}: a middleware has changed or ` +
        "partly read the body. Mount the endpoint before it.",
    );
  }
  if (encoding === "identity") return raw;
  const decompressed = await decompress(raw, limit);
  if (body.isUnshared) freeMemory(raw);
  return decompressed;
}

const UNREAD = { late: "request-timeout", stopped: "body-too-large", broken: "body-corrupt" } as const;

/**
 * Whether the bytes begin as a text of JSON, and are UTF-8 or end as an object: a host has then decompressed a body that
 * was announced as gzip. gzip data begins otherwise (RFC 1952 §2.3.1), also after a host has decoded it, and what is left
 * of it after a loss is neither.
 */
function isText(raw: Buffer): boolean {
  const text = raw.toString("latin1");
  return /^[ \t\r\n]*["[{\-\dtfn]/.test(text) && (isUtf8(raw) || /^\s*\{[^]*\}\s*$/.test(text));
}

/** Reads a body that other code of a host may stop. `"late"`: the time is over. */
async function forEachWithin(
  milliseconds: number,
  body: ByteStream,
  take: (chunk: Uint8Array) => boolean,
): Promise<"end" | "stopped" | "broken" | "late"> {
  let isLate = false;
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => {
    isLate = true;
    resolve("late");
  }, milliseconds);
  try {
    return await Promise.race([body.forEach((chunk) => !isLate && take(chunk)), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Frees the memory of a body at once, if this memory contains nothing else, as after the body arrived in one chunk.
 * Without this call V8 frees the memory with the next garbage collection, which under load is a thousand bodies later.
 * No code may read the body afterwards, in this thread or another.
 */
export function freeMemory(body: Buffer): void {
  if (body.length > 0 && body.length === body.buffer.byteLength) (body.buffer as ArrayBuffer).transfer(0);
}

/**
 * Collects bytes in one buffer. Chunks are copied, because a chunk may be part of a far larger buffer, as with HTTP/2,
 * and because the source of an embedding host may reuse the memory of a chunk. An event that arrives in one chunk, as
 * most do, needs no copy if the source gives its chunks away.
 */
class GrowingBuffer {
  length = 0;
  readonly #keepsFirstChunk: boolean;
  readonly #expected: number;
  #memory: Buffer = Buffer.alloc(0);

  /** @param expected the number of bytes that will probably come; 0 if it is not known. */
  constructor(keepsFirstChunk: boolean, expected: number) {
    this.#keepsFirstChunk = keepsFirstChunk;
    this.#expected = expected;
  }

  append(chunk: Uint8Array): void {
    const length = this.length + chunk.length;
    if (this.length === 0 && this.#keepsFirstChunk && chunk.length === chunk.buffer.byteLength) {
      this.#memory = Buffer.from(chunk.buffer);
      this.length = length;
      return;
    }
    if (length > this.#memory.length) this.#memory = this.#grown(length);
    this.#memory.set(chunk, this.length);
    this.length = length;
  }

  /** Ends the collection. The buffer has memory of its own, so that `freeMemory` can free it. */
  bytes(): Buffer {
    if (this.length === this.#memory.length) return this.#memory;
    return Buffer.from((this.#memory.buffer as ArrayBuffer).transfer(this.length));
  }

  #grown(length: number): Buffer {
    const memory = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#memory.length, this.#expected, 1_024));
    this.#memory.copy(memory, 0, 0, this.length);
    return memory;
  }
}

/**
 * Decompresses one or more gzip members (RFC 1952). zlib ignores bytes after the last member if the first of them is
 * zero. Therefore the number of bytes that it has read is compared.
 */
async function decompress(raw: Buffer, limit: number): Promise<Buffer | RejectedRequest> {
  try {
    const { buffer, engine } = await inflate(raw, { maxOutputLength: limit, info: true });
    return engine.bytesWritten === raw.length ? buffer : rejectRequest("body-corrupt");
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return rejectRequest(tooLarge ? "body-too-large" : "body-corrupt");
  }
}
