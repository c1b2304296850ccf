import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Encoding } from "./headers.ts";
import { type ByteStream, type Refusal, refuse } from "./request.ts";

const gunzipAsync = promisify(gunzip);

/** Compressed bytes may exceed the limit by the frame of incompressible data, not by more. */
const GZIP_OVERHEAD = 65_536;

/** Reads the body in full, decompressed. Reading stops at the limit; nothing beyond it is kept. */
export async function readBody(body: ByteStream, encoding: Encoding, limit: number): Promise<Buffer | Refusal> {
  const most = encoding === "gzip" ? limit + GZIP_OVERHEAD : limit;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const end = await body.forEach((chunk) => {
    length += chunk.length;
    if (length > most) return false;
    chunks.push(chunk);
    return true;
  });
  if (end === "stopped") return refuse("body-too-large");
  if (end === "broken") return refuse("body-corrupt");
  const raw = joined(chunks);
  return encoding === "gzip" ? decompress(raw, limit) : raw;
}

function joined(chunks: readonly Uint8Array[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && Buffer.isBuffer(first) ? first : Buffer.concat(chunks);
}

async function decompress(raw: Buffer, limit: number): Promise<Buffer | Refusal> {
  try {
    return await gunzipAsync(raw, { maxOutputLength: limit, rejectGarbageAfterEnd: true });
  } catch (fault) {
    const tooLarge = (fault as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return refuse(tooLarge ? "body-too-large" : "body-corrupt");
  }
}
