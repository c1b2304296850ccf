import { createHash } from "node:crypto";
import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { OperatorError } from "../errors/operator-error.ts";
import { syncFolder } from "../files/durable-file.ts";

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

/** The name of a file while it is written. */
const draftOf = (path: string): string => `${path}.partial`;

/**
 * Runs `work` on a new file that only its owner can read. Under its name there is a whole file or none; a process that is
 * killed leaves a part of it next to it. The file is deleted where the work fails.
 * @throws output-failed where it can't be written, also where a process that was killed has left a part.
 */
export async function withNewFile<T>(path: string, work: (sink: ExportSink) => Promise<T>): Promise<T> {
  const draft = draftOf(path);
  const failed = (error: NodeJS.ErrnoException): never => {
    const isLeft = error.code === "EEXIST" && error.path === draft && error.syscall === "open";
    const message = isLeft
      ? `${draft} is of an export that did not end, or that runs: delete it, or name another file`
      : `${path} can't be written (${error.code})`;
    throw new OperatorError("output-failed", message, { cause: error });
  };
  const file = await open(draft, "wx", 0o600).catch(failed);
  try {
    const result = await work(sinkOf(file, failed));
    await file.close().catch(failed);
    // guard(drop): a file under its name is whole
    // fails: packages/server/src/exports/export-file.test.ts › under its name
    await publish(draft, path).catch(failed);
    await syncFolder(dirname(path)).catch(failed);
    return result;
  } catch (error) {
    await file.close().catch(() => {});
    await unlink(draft).catch(() => {});
    throw error;
  }
}

/** File systems such as exFAT have no links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Gives the draft its name, and replaces no file that was made meanwhile. Without links, a process that is killed at this
 * moment leaves an empty file.
 */
async function publish(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await (await open(path, "wx", 0o600)).close();
    await rename(draft, path);
    return;
  }
  await unlink(draft);
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
