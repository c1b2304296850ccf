import { readdir, readFile, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  draftOf,
  makeFolder,
  ownDraftIn,
  replaceFile,
  syncFolder,
  unlinkIfThere,
  writeExclusively,
} from "../../base/files/durable-file.ts";
import { createUnwritableError, describeSystemError, requireWritableFolder } from "../../base/files/unwritable.ts";
import { Unavailable } from "../../base/ports.ts";
import { type KeyStore, type KeyStoreWatermark, type NewWrapping, requireSecretId, SECRET_ID } from "./key-store.ts";

export const KEY_STORE = "the key store";

/**
 * Keeps a file per secret, an empty file per destruction record, and a file per watermark. The files of secrets and
 * destruction records are named after the secret's id, so that a listing of the directory names no account.
 * @param creates whether the directory is made if it does not exist.
 */
export async function directoryKeyStore(directory: string, creates = true): Promise<KeyStore> {
  const unwritable = (cause: unknown): Unavailable => createUnwritableError(KEY_STORE, directory, cause);
  const unreadable = (cause: unknown): Unavailable => createUnreadableError(directory, cause);
  if (creates) {
    await makeFolder(join(directory, "secrets")).catch((error: unknown) => {
      throw unwritable(error);
    });
  }

  /** @throws Unavailable */
  async function writeOver(path: string, content: Buffer, draft?: string): Promise<void> {
    await replaceFile(path, content, draft).catch((error: unknown) => {
      throw unwritable(error);
    });
  }

  function pathOf(id: string, folder: "secrets" | "destroyed" = "secrets"): string {
    requireSecretId(id);
    return join(directory, folder, id.slice(0, 2), id);
  }

  async function read(id: string): Promise<Buffer | undefined> {
    const path = pathOf(id);
    try {
      const wrapped = await readFile(path);
      // The process that wrote the file may not have synced its name yet, and events that are sealed under the secret
      // must not exist longer than the secret.
      await syncFolders(path);
      return wrapped;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw unreadable(error);
    }
  }

  async function readToOpen(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const wrappedById = new Map<string, Buffer>();
    for (const id of ids) {
      const wrapped = await readFile(pathOf(id)).catch((cause: NodeJS.ErrnoException) => {
        if (cause.code !== "ENOENT") throw unreadable(cause);
      });
      if (wrapped) wrappedById.set(id, wrapped);
    }
    return wrappedById;
  }

  async function create(id: string, wrapped: Buffer): Promise<Buffer> {
    const path = pathOf(id);
    try {
      await writeExclusively(path, wrapped);
      return wrapped;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
        throw unwritable(error);
      }
    }
    const existing = await read(id);
    if (!existing) throw new Unavailable("a key file vanished while it was read");
    return existing;
  }

  async function destroy(id: string): Promise<void> {
    // guard(drop): a destruction is recorded before it is done
    await recordDestroyed(pathOf(id, "destroyed"));
    await discard(id);
  }

  async function recordDestroyed(path: string): Promise<void> {
    await writeExclusively(path, Buffer.alloc(0)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw unwritable(error);
      return syncFolders(path);
    });
  }

  async function discard(id: string): Promise<void> {
    const path = pathOf(id);
    try {
      await unlinkIfThere(draftOf(path));
      await unlinkDraftsOf(path);
      await unlink(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // If the file is missing, the process that unlinked it may not have synced the folder yet.
      if (code !== "ENOENT") throw unwritable(error);
    }
    await syncFolder(dirname(path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw unwritable(error);
    });
  }

  async function replace(wrappings: readonly NewWrapping[]): Promise<number> {
    const replaced = await Promise.all(
      wrappings.map(async ({ id, existing, wrapped }) => {
        if (!(await read(id))?.equals(existing)) return false;
        await writeOver(pathOf(id), wrapped);
        return true;
      }),
    );
    return replaced.filter(Boolean).length;
  }

  async function* ids(): AsyncGenerator<readonly string[]> {
    for (const folder of await list(join(directory, "secrets"))) {
      yield (await list(join(directory, "secrets", folder))).filter((name) => SECRET_ID.test(name));
    }
  }

  async function findMissing(ids: readonly string[]): Promise<readonly string[]> {
    const missing: string[] = [];
    for (const id of ids) if (!(await exists(pathOf(id)))) missing.push(id);
    return missing;
  }

  async function findDestroyed(ids: readonly string[]): Promise<readonly string[]> {
    const destroyed: string[] = [];
    for (const id of ids) if (await exists(pathOf(id, "destroyed"))) destroyed.push(id);
    return destroyed;
  }

  async function readWatermark(name: KeyStoreWatermark): Promise<string | undefined> {
    return readFile(join(directory, name), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw unreadable(error);
    });
  }

  return {
    read,
    readToOpen,
    create,
    destroy,
    discard,
    replace,
    findMissing,
    findDestroyed,
    ids,
    readWatermark,
    // Servers that start together all write which installation the keys belong to.
    writeWatermark: (name, text) => writeOver(join(directory, name), Buffer.from(text), ownDraftIn(directory)),
    requireWritable: () => requireWritableFolder(KEY_STORE, directory),
    description: `directory ${directory}`,
    close: async () => {},
  };
}

function createUnreadableError(folder: string, cause: unknown): Unavailable {
  const reason = describeSystemError(cause as NodeJS.ErrnoException);
  return new Unavailable(`${KEY_STORE} can't be read: ${folder} (${reason})`, { cause });
}

/** @throws Unavailable */
async function exists(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw createUnreadableError(dirname(path), error);
  });
  return found !== undefined;
}

/** @throws Unavailable */
async function list(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw createUnreadableError(folder, cause);
  });
  return names.toSorted();
}

/** Deletes further names of a secret's file. A process that was killed while it wrote the secret can have left one. */
async function unlinkDraftsOf(path: string): Promise<void> {
  const { ino, nlink } = await stat(path);
  if (nlink === 1) return;
  const folder = dirname(path);
  for (const name of (await readdir(folder)).filter((one) => one.startsWith("."))) {
    const draft = join(folder, name);
    if ((await stat(draft)).ino === ino) await unlink(draft);
  }
}

async function syncFolders(path: string): Promise<void> {
  const folder = dirname(path);
  await syncFolder(folder);
  await syncFolder(dirname(folder));
}
