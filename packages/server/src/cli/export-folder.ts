/** Writes an account export into a folder. */
import { chmod, type FileHandle, mkdir, open, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AccountExport, EXPORT_FILE, type ExportPart } from "@device-risk-signals/admin-api";
import { tryWrite } from "../base/files/durable-file.ts";
import { describeSystemError } from "../base/files/unwritable.ts";
import { OperatorError } from "../base/errors/operator-error.ts";

/** The names of the files are checked, because they come from a server. */
const FILE_NAME = new RegExp(EXPORT_FILE);
/** Files that the export appends to. Each other file is one part. */
const LINES = ".ndjson";

/**
 * Tries whether a file can be written in the folder, or in the nearest folder above that is there, before the server
 * does the work for it. @throws output-failed
 */
export async function requireWritable(folder: string): Promise<void> {
  await tryWrite(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT" && dirname(folder) !== folder) return requireWritable(dirname(folder));
    const message = `${folder} is not writable (${describeSystemError(cause)}): name another folder`;
    throw new OperatorError("output-failed", message, { cause });
  });
}

/** @throws export-folder-used if the folder is not empty; output-failed */
export async function requireUnused(folder: string): Promise<void> {
  await requireWritable(folder);
  const found = await readdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  });
  // guard(false): an export is not mixed with other files
  if (found.length > 0) {
    throw new OperatorError("export-folder-used", `${folder} is not empty: name a new folder`);
  }
}

/**
 * Writes an export into an unused folder that only its owner can read. `manifest.json` comes last.
 * @throws dependency-unavailable if the export ends without its manifest; unexpected-error if it names a file that an
 * export can't have.
 */
export async function writeExport(folder: string, parts: AsyncIterable<ExportPart>): Promise<AccountExport> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await mkdir(join(folder, "events"), { mode: 0o700 });
  await chmod(folder, 0o700);
  const opened = new Map<string, FileHandle>();
  try {
    for await (const part of parts) {
      if ("manifest" in part) {
        const text = `${JSON.stringify(part.manifest, undefined, 2)}\n`;
        await writeFile(join(folder, "manifest.json"), text, { mode: 0o600, flag: "wx" });
        return part.manifest;
      }
      await writePart(folder, opened, part);
    }
  } finally {
    for (const file of opened.values()) await file.close();
  }
  throw new OperatorError("dependency-unavailable", "The export ended before its manifest: it is not whole.");
}

async function writePart(
  folder: string,
  opened: Map<string, FileHandle>,
  part: Exclude<ExportPart, { readonly manifest: unknown }>,
): Promise<void> {
  const { file } = part;
  // guard(false): a server names no file outside of the folder
  if (!FILE_NAME.test(file)) throw new OperatorError("unexpected-error", "The export names a file that it can't have.");
  const path = join(folder, file);
  if ("base64" in part) {
    return writeFile(path, Buffer.from(part.base64, "base64"), { mode: 0o600, flag: "wx" });
  }
  if (!file.endsWith(LINES)) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return writeFile(path, part.text, { mode: 0o600, flag: "wx" });
  }
  const handle = opened.get(file) ?? (await open(path, "wx", 0o600));
  opened.set(file, handle);
  await handle.appendFile(part.text);
}
