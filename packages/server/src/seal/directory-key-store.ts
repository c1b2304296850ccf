import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Unavailable } from "../ports.ts";
import type { KeyStore } from "./key-store.ts";

const ID = /^[\da-f]{64}$/;

/** A file per secret, named by its id: a listing of the directory names no account. */
export async function directoryKeyStore(directory: string): Promise<KeyStore> {
  await makeFolder(join(directory, "secrets"));

  function pathOf(id: string): string {
    if (!ID.test(id)) throw new TypeError("an id of a secret has 64 hexadecimal digits");
    return join(directory, "secrets", id.slice(0, 2), id);
  }

  async function read(id: string): Promise<Buffer | undefined> {
    const path = pathOf(id);
    try {
      const wrapped = await readFile(path);
      // Whoever made it may not have synced its name yet; what is sealed under it must not outlive it.
      await syncFolders(path);
      return wrapped;
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw new Unavailable("the key directory can't be read", { cause: fault });
    }
  }

  async function create(id: string, wrapped: Buffer): Promise<Buffer> {
    const path = pathOf(id);
    try {
      await writeExclusively(path, wrapped);
      return wrapped;
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== "EEXIST") {
        throw new Unavailable("the key directory can't be written", { cause: fault });
      }
    }
    const standing = await read(id);
    if (!standing) throw new Unavailable("a key file vanished while it was read");
    // Whoever came first may not have come so far yet.
    await syncFolder(dirname(path));
    return standing;
  }

  async function destroy(id: string): Promise<void> {
    const path = pathOf(id);
    try {
      await unlink(path);
    } catch (fault) {
      const { code } = fault as NodeJS.ErrnoException;
      // Whoever unlinked it may not have synced that yet.
      if (code !== "ENOENT") throw new Unavailable("the key directory can't be written", { cause: fault });
    }
    await syncFolder(dirname(path)).catch((fault: NodeJS.ErrnoException) => {
      if (fault.code !== "ENOENT") throw new Unavailable("the key directory can't be written", { cause: fault });
    });
  }

  async function replace(id: string, standing: Buffer, wrapped: Buffer): Promise<boolean> {
    const path = pathOf(id);
    if (!(await read(id))?.equals(standing)) return false;
    await writeOver(path, wrapped);
    return true;
  }

  async function* ids(): AsyncGenerator<string> {
    for (const folder of (await readdir(join(directory, "secrets"))).toSorted()) {
      for (const name of (await readdir(join(directory, "secrets", folder))).toSorted()) if (ID.test(name)) yield name;
    }
  }

  const markPath = join(directory, "mark");

  async function readMark(): Promise<string | undefined> {
    return readFile(markPath, "utf8").catch((fault: NodeJS.ErrnoException) => {
      if (fault.code === "ENOENT") return undefined;
      throw new Unavailable("the key directory can't be read", { cause: fault });
    });
  }

  return {
    read,
    create,
    destroy,
    replace,
    ids,
    readMark,
    writeMark: (text) => writeOver(markPath, Buffer.from(text)),
    description: `directory ${directory}`,
    close: async () => {},
  };
}

/** A new file takes the place of the old one: whoever reads meanwhile has one of both. */
async function writeOver(path: string, content: Buffer): Promise<void> {
  const draft = join(dirname(path), `.${randomUUID()}`);
  try {
    await writeExclusively(draft, content);
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (fault) {
    throw new Unavailable("the key directory can't be written", { cause: fault });
  }
}

/**
 * Writes a file that did not exist, whole or not at all: under a name of its own, synced, then linked to its place.
 * Its folder is synced too, so that the name outlives a power cut.
 * @throws EEXIST
 */
export async function writeExclusively(path: string, content: Buffer): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${randomUUID()}`);
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, path);
  } finally {
    await unlink(draft);
  }
  await syncFolders(path);
}

async function syncFolders(path: string): Promise<void> {
  const folder = dirname(path);
  await syncFolder(folder);
  await syncFolder(dirname(folder));
}

/** Makes a private folder; the names of all that are new on the way to it outlive a power cut too. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
