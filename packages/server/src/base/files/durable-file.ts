/** Files that survive a power cut. Each file is complete or absent, and the name of a complete file is durable, too. */
import { randomUUID } from "node:crypto";
import { chown, link, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Writes a new file, which is complete or absent at every moment: writes and syncs a draft, then links it to the path.
 * Only the owner of the file can read it.
 * @throws EEXIST
 */
export async function writeExclusively(path: string, content: Buffer): Promise<void> {
  await makeFolder(dirname(path));
  const draft = ownDraftIn(dirname(path));
  await writeDraft(draft, content);
  try {
    await link(draft, path);
  } finally {
    await unlink(draft);
  }
  await syncFolder(dirname(path));
  // Another process may have made the folder, and not have synced its name yet.
  await syncFolder(dirname(dirname(path)));
}

/**
 * Tries whether files can be written in a folder: writes, syncs and deletes one. Only a write shows this: on a read-only
 * or full file system all permissions may be right.
 */
export async function tryWrite(folder: string): Promise<void> {
  const draft = ownDraftIn(folder);
  await writeDraft(draft, Buffer.from("a trial of this folder\n"));
  await unlinkIfThere(draft);
}

const DRAFT_NAME = /^\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Deletes what killed calls of `writeExclusively` left in a folder, which has one writer at a time. */
export async function unlinkDrafts(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const name of names) if (DRAFT_NAME.test(name)) await unlinkIfThere(join(folder, name));
}

/**
 * Replaces a file with a new one: a concurrent reader sees the old or the new file, complete. The owner of the file
 * does not change.
 * @param draft the file that is written first. With the default, a path may have one writer at a time, and a writer
 *   overwrites the draft that a killed writer left.
 */
export async function replaceFile(path: string, content: Buffer, draft = draftOf(path)): Promise<void> {
  await unlinkIfThere(draft);
  await writeDraft(draft, content);
  try {
    await changeOwner(await stat(path).catch(() => undefined), draft);
    await rename(draft, path);
  } catch (error) {
    await unlink(draft);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes a private folder and the folders above it that are missing. All of them survive a power cut. */
export async function makeFolder(folder: string): Promise<void> {
  const parent = dirname(folder);
  try {
    // With `recursive`, Node would call the folder missing if the file system is read-only.
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(folder)).isDirectory()) return;
    if (code !== "ENOENT" || parent === folder) throw error;
    await makeFolder(parent);
    return makeFolder(folder);
  }
  await changeOwner(await stat(parent), folder);
  await syncFolder(parent);
}

/** Makes names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A new name for a draft, which no other writer uses. */
export const ownDraftIn = (folder: string): string => join(folder, `.${randomUUID()}`);

/** The name of the file that `replaceFile` writes first. */
export const draftOf = (path: string): string => join(dirname(path), `.${basename(path)}.new`);

/** Whether a killed writer of files with the names `own` can have left a file of this name in their folder. */
export const isDraft = (name: string, own: RegExp): boolean =>
  DRAFT_NAME.test(name) || own.test(/^\.(.+)\.new$/.exec(name)?.[1] ?? "");

export async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

async function writeDraft(draft: string, content: Buffer): Promise<void> {
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
    await changeOwner(await stat(dirname(draft)), draft);
  } catch (error) {
    await unlink(draft);
    throw error;
  } finally {
    await file.close();
  }
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Makes `owner` the owner of a path if this process is root, as with `sudo`, so that a server that is not root can read
 * it.
 */
async function changeOwner(owner: Owner | undefined, path: string): Promise<void> {
  if (owner && process.getuid?.() === 0) await chown(path, owner.uid, owner.gid);
}
