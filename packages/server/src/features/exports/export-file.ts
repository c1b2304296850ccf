import { createHash } from "node:crypto";
import type { ExportManifest } from "@device-risk-signals/admin-api";
import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import { syncFolder, unlinkIfThere } from "../../base/files/durable-file.ts";
import type { ExportPart } from "./export-parts.ts";

/** The destination of an export's bytes. */
export interface ExportSink {
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when all bytes are durable. */
  finish(): Promise<void>;
}

export const manifestPathOf = (path: string): string => `${path}.manifest.json`;

/**
 * Writes the file of an export, and its manifest when the file is durable.
 * @throws output-failed; dependency-unavailable if the file is incomplete. After an error, this call leaves neither the
 * file nor its manifest, unless the error names a file that could not be deleted.
 */
export async function writeExport<Manifest extends ExportManifest>(
  path: string,
  parts: AsyncIterable<ExportPart<Manifest>>,
): Promise<Manifest> {
  const written = await withNewFile(path, async (sink) => {
    const sha256 = createHash("sha256");
    for await (const part of parts) {
      if ("bytes" in part) {
        sha256.update(part.bytes);
        await sink.append(part.bytes);
        continue;
      }
      // guard(false): the file is the one that the manifest describes
      if (part.manifest.file.sha256 !== sha256.digest("hex")) throw notWhole();
      await sink.finish();
      return part.manifest;
    }
    throw notWhole();
  });
  await writeManifest(path, written);
  return written;
}

/** If the manifest can't be written, the file is deleted: without a manifest it is not whole. @throws output-failed */
async function writeManifest(path: string, manifest: ExportManifest): Promise<void> {
  try {
    await withNewFile(manifestPathOf(path), async (sink) => {
      await sink.append(Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`));
      await sink.finish();
    });
  } catch (error) {
    // guard(drop): a disk that is full at the end leaves no file without a manifest
    throw await deleteFiles([path], error);
  }
}

/**
 * Deletes what a failed call has written.
 * @returns the call's error. If it is `output-failed` or `dependency-unavailable`, it names each file that can't be
 * deleted.
 */
async function deleteFiles(files: Iterable<string>, error: unknown): Promise<unknown> {
  const left: string[] = [];
  for (const file of files) await unlinkIfThere(file).catch(() => left.push(file));
  if (left.length === 0 || !hasCode(error, "output-failed", "dependency-unavailable")) return error;
  const message = `${error.message}; delete ${left.join(" and ")}, which could not be deleted`;
  return new OperatorError(error.code, message, { cause: error });
}

const notWritten = (path: string, cause: NodeJS.ErrnoException): OperatorError =>
  new OperatorError("output-failed", `${path} can't be written (${cause.code})`, { cause });

const notWhole = (): OperatorError =>
  new OperatorError("dependency-unavailable", "The export ended before its manifest, or was changed: it is not whole");

/** The name of a file while it is written. */
export const draftOf = (path: string): string => `${path}.partial`;

/** The error if another export writes a draft, or was killed while it did. */
export const draftExists = (draft: string, cause?: Error): OperatorError =>
  new OperatorError(
    "output-failed",
    `${draft} is from another export: if that export no longer runs, delete the file; otherwise name another file`,
    { cause },
  );

/**
 * Runs `work` on a new file that only its owner can read. On a file system with links, the name never refers to an
 * incomplete file. A process that is killed leaves a part of the file under another name. If the call fails, it deletes
 * what it has made.
 * @throws output-failed if the file can't be written, or if a killed process has left a part of it.
 */
export async function withNewFile<T>(path: string, work: (sink: ExportSink) => Promise<T>): Promise<T> {
  const draft = draftOf(path);
  const failed = (error: NodeJS.ErrnoException): never => {
    const isLeft = error.code === "EEXIST" && error.path === draft && error.syscall === "open";
    throw isLeft ? draftExists(draft, error) : notWritten(path, error);
  };
  const file = await open(draft, "wx", 0o600).catch(failed);
  const madeFiles = new Set([draft]);
  try {
    const result = await work(sinkOf(file, failed));
    await file.close().catch(failed);
    // guard(drop): a file under its name is whole
    await publish(draft, path, madeFiles).catch(failed);
    await syncFolder(dirname(path)).catch(failed);
    return result;
  } catch (error) {
    await file.close().catch(() => {});
    throw await deleteFiles(madeFiles, error);
  }
}

/** The codes of the errors of `link` on file systems without links, such as exFAT. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Gives the draft its final name, and replaces no file that was made in the meantime. On a file system without links, a
 * process that is killed at this moment leaves an empty file.
 * @param made gets the path as soon as this call has made a file there.
 */
async function publish(draft: string, path: string, made: Set<string>): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    const file = await open(path, "wx", 0o600);
    made.add(path);
    await file.close();
    await rename(draft, path);
    return;
  }
  // guard(drop): a call that fails after this leaves no file
  made.add(path);
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
