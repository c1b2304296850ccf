import { createHash } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { OperatorError } from "../errors/operator-error.ts";

/** Where the bytes of an export go. */
export interface ExportSink {
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when all bytes are durable. */
  finish(): Promise<void>;
}

export interface MeasuredSink extends ExportSink {
  readonly measured: () => { readonly sha256: string; readonly bytes: number };
}

/** Measures what is appended to a sink. */
export function measuring(sink: ExportSink): MeasuredSink {
  const sha256 = createHash("sha256");
  let bytes = 0;
  return {
    async append(chunk) {
      sha256.update(chunk);
      bytes += chunk.length;
      await sink.append(chunk);
    },
    finish: () => sink.finish(),
    measured: () => ({ sha256: sha256.copy().digest("hex"), bytes }),
  };
}

/**
 * Runs `work` on a new file that only its owner can read. The file is deleted where the work fails.
 * @throws output-failed where it can't be written.
 */
export async function withNewFile<T>(path: string, work: (sink: ExportSink) => Promise<T>): Promise<T> {
  const failed = (error: NodeJS.ErrnoException): never => {
    throw new OperatorError("output-failed", `${path} can't be written (${error.code})`, { cause: error });
  };
  const file = await open(path, "wx", 0o600).catch(failed);
  try {
    const result = await work(sinkOf(file, failed));
    await file.close().catch(failed);
    return result;
  } catch (error) {
    await file.close().catch(() => {});
    await unlink(path).catch(() => {});
    throw error;
  }
}

const sinkOf = (file: FileHandle, failed: (error: NodeJS.ErrnoException) => never): ExportSink => ({
  append: (bytes) => file.appendFile(bytes).catch(failed),
  finish: () => file.sync().catch(failed),
});

export async function hashOf(chunks: AsyncIterable<Uint8Array>): Promise<{ sha256: string; bytes: number }> {
  const sha256 = createHash("sha256");
  let bytes = 0;
  for await (const chunk of chunks) {
    sha256.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: sha256.digest("hex"), bytes };
}
