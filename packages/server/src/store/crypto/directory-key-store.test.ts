import { createHash } from "node:crypto";
import files, { link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join, relative } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../../e2e/support/temporary-folder.ts";
import { Unavailable } from "../../base/ports.ts";
import { writeExclusively } from "../../base/files/durable-file.ts";
import { directoryKeyStore } from "./directory-key-store.ts";
import { describeKeyStore } from "./key-store.contract.ts";

const idOf = (name: string): string => createHash("sha256").update(name).digest("hex");

/** Paths that were synced to the disk, in order. */
const synced: string[] = [];
const { open } = files;

// The test does not use `vi.mock`: modules that another test file has loaded would keep the real function.
beforeAll(() => {
  files.open = async (...args: Parameters<typeof open>) => {
    const handle = await open(...args);
    const sync = handle.sync.bind(handle);
    handle.sync = async () => {
      await sync();
      synced.push(String(args[0]));
    };
    return handle;
  };
  syncBuiltinESMExports();
});

afterAll(() => {
  files.open = open;
  syncBuiltinESMExports();
});

/** Every file and folder in the folder, with relative paths. */
async function everythingIn(folder: string): Promise<{ path: string; isFile: boolean; mode: number }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(folder, path), isFile: entry.isFile(), mode: (await stat(path)).mode & 0o777 };
    }),
  );
}

describeKeyStore("a directory", async () => {
  const folder = await temporaryFolder();
  const keys = join(folder.path, "deep", "keys");
  return {
    open: () => directoryKeyStore(keys),
    readAllBytes: async () => {
      const files = (await everythingIn(keys)).filter(({ isFile }) => isFile);
      return Buffer.concat(await Promise.all(files.map(({ path }) => readFile(join(keys, path)))));
    },
    remove: folder.remove,
  };
});

describe("the key store in a directory", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let keys: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    keys = join(folder.path, "keys");
  });

  afterEach(() => folder.remove());

  it("has folders and files that only their owner can read, under any umask", async () => {
    const before = process.umask(0);
    try {
      const store = await directoryKeyStore(keys);
      await store.create(idOf("account/1/customer-1"), Buffer.from("wrapped"));
    } finally {
      process.umask(before);
    }
    expect((await stat(keys)).mode & 0o777).toBe(0o700);
    const all = await everythingIn(keys);
    expect(all).toHaveLength(3);
    for (const { path, isFile, mode } of all) expect(mode, path).toBe(isFile ? 0o600 : 0o700);
  });

  it("names no account in the name of a file or folder", async () => {
    const store = await directoryKeyStore(keys);
    await store.create(idOf("account/1/customer-1"), Buffer.from("wrapped"));
    for (const { path } of await everythingIn(keys)) expect(path).toMatch(/^secrets(\/[\da-f]{2}(\/[\da-f]{64})?)?$/);
  });

  it("syncs a new directory and its parents, up to the folder that existed before", async () => {
    synced.length = 0;
    await directoryKeyStore(join(keys, "deep"));
    expect(synced).toEqual([folder.path, keys, join(keys, "deep")]);
    synced.length = 0;
    await directoryKeyStore(join(keys, "deep"));
    expect(synced).toEqual([]);
  });

  it("syncs the file of a secret before it gets its final name, and its folders afterwards", async () => {
    const store = await directoryKeyStore(keys);
    synced.length = 0;
    await store.create(idOf("a"), Buffer.from("wrapped"));
    const secrets = join(keys, "secrets");
    const [parent, draft = "", ...folders] = synced;
    expect(parent, "its folder is new").toBe(secrets);
    expect(draft.startsWith(join(folders[0] ?? "", "."))).toBe(true);
    expect(folders).toEqual([expect.stringMatching(/[\da-f]{2}$/), secrets]);
    synced.length = 0;
    await store.create(idOf("a"), Buffer.from("another"));
    expect(synced.slice(-2), "a second caller also syncs the name").toEqual(folders);
  });

  it("keeps the secret if it can't record its destruction", async () => {
    const store = await directoryKeyStore(keys);
    await store.create(idOf("a"), Buffer.from("wrapped"));
    await writeFile(join(keys, "destroyed"), "in the way");
    await expect(store.destroy(idOf("a"))).rejects.toThrow(Unavailable);
    expect(await store.read(idOf("a"))).toEqual(Buffer.from("wrapped"));
  });

  it("syncs the destruction record and its folders before it deletes the secret", async () => {
    const store = await directoryKeyStore(keys);
    await store.create(idOf("a"), Buffer.from("wrapped"));
    synced.length = 0;
    await store.destroy(idOf("a"));
    const [folder, secrets] = ["destroyed", "secrets"].map((name) => join(keys, name, idOf("a").slice(0, 2)));
    const last = [folder, join(keys, "destroyed"), secrets];
    expect(synced.slice(-last.length), "the record first").toEqual(last);
    synced.length = 0;
    await store.destroy(idOf("a"));
    expect(synced.slice(-last.length), "the process that recorded it may not have synced that").toEqual(last);
  });

  it("also destroys a draft of the secret that a crash has left", async () => {
    const store = await directoryKeyStore(keys);
    await store.create(idOf("a"), Buffer.from("wrapped"));
    const path = join(keys, "secrets", idOf("a").slice(0, 2), idOf("a"));
    await link(path, join(dirname(path), ".draft"));
    await store.destroy(idOf("a"));
    expect((await everythingIn(join(keys, "secrets"))).filter(({ isFile }) => isFile)).toEqual([]);
  });

  it("destroys a draft that a rotation has left, and another rotation writes over it", async () => {
    const store = await directoryKeyStore(keys);
    await store.create(idOf("a"), Buffer.from("one"));
    const folder = join(keys, "secrets", idOf("a").slice(0, 2));
    const draft = join(folder, `.${idOf("a")}.new`);
    await writeFile(draft, "left");
    const wrapping = { id: idOf("a"), existing: Buffer.from("one"), wrapped: Buffer.from("two") };
    expect(await store.replace([wrapping])).toBe(1);
    expect(await readdir(folder)).toEqual([idOf("a")]);
    await writeFile(draft, "left");
    await store.destroy(idOf("a"));
    expect(await readdir(folder)).toEqual([]);
  });

  it("has one file and no draft after several servers created the same secret at once", async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, () => directoryKeyStore(keys)));
    await Promise.all(
      stores.flatMap((store, index) =>
        Array.from({ length: 5 }, () => store.create(idOf("raced"), Buffer.from(`by ${index}`))),
      ),
    );
    expect((await everythingIn(keys)).filter(({ isFile }) => isFile)).toHaveLength(1);
  });

  it("throws Unavailable if a file exists in place of a folder", async () => {
    const store = await directoryKeyStore(keys);
    await rm(join(keys, "secrets"), { recursive: true });
    await writeFile(join(keys, "secrets"), "in the way");
    await expect(store.create(idOf("a"), Buffer.from("wrapped"))).rejects.toBeInstanceOf(Unavailable);
    await expect(store.read(idOf("a"))).rejects.toBeInstanceOf(Unavailable);
    await rm(join(keys, "secrets"));
    expect(await store.create(idOf("a"), Buffer.from("wrapped"))).toEqual(Buffer.from("wrapped"));
  });

  it("creates the directory again after it has disappeared", async () => {
    const store = await directoryKeyStore(keys);
    await rm(keys, { recursive: true });
    expect(await store.read(idOf("a"))).toBeUndefined();
    await store.create(idOf("a"), Buffer.from("wrapped"));
    expect(await store.read(idOf("a"))).toEqual(Buffer.from("wrapped"));
    expect((await stat(keys)).mode & 0o777).toBe(0o700);
  });

  it("does not replace a file or follow a link at the path of an exclusive write", async () => {
    await mkdir(keys);
    const target = join(folder.path, "target");
    await symlink(target, join(keys, "link"));
    await writeFile(join(keys, "file"), "first");
    for (const name of ["link", "file"]) {
      await expect(writeExclusively(join(keys, name), Buffer.from("second"))).rejects.toMatchObject({ code: "EEXIST" });
    }
    expect(await readFile(join(keys, "file"), "utf8")).toBe("first");
    await expect(stat(target)).rejects.toMatchObject({ code: "ENOENT" });
    expect((await readdir(keys)).toSorted(), "no draft is left").toEqual(["file", "link"]);
  });
});
