import { randomBytes } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { LocalKeyEncryption } from "./key-encryption.ts";
import type { KeyStore } from "./key-store.ts";
import { keysOf, memoryKeyStore as memory } from "./memory-key-store.fixture.ts";
import { secretId, Secrets } from "./secrets.ts";

const KEY = randomBytes(32);

describe("a secret", () => {
  it("is made once, of 32 bytes, and found again by every instance", async () => {
    const { store } = memory();
    const secrets = new Secrets(store, keysOf(KEY));
    expect(await secrets.find("a")).toBeUndefined();
    const secret = await secrets.findOrCreate("a");
    expect(secret).toHaveLength(32);
    expect(await secrets.findOrCreate("a")).toEqual(secret);
    expect(await new Secrets(store, keysOf(KEY)).find("a")).toEqual(secret);
    expect(await secrets.findOrCreate("b")).not.toEqual(secret);
  });

  it("is the one that was stored first, if another instance was quicker", async () => {
    const { store } = memory();
    const slow = new Secrets({ ...store, read: async () => undefined }, keysOf(KEY));
    const first = await new Secrets(store, keysOf(KEY)).findOrCreate("a");
    expect(await slow.findOrCreate("a")).toEqual(first);
  });

  it("is created once for all callers that ask for it at the same time", async () => {
    const { store, creations } = memory();
    const secrets = new Secrets(store, keysOf(KEY));
    const given = await Promise.all(Array.from({ length: 100 }, () => secrets.findOrCreate("a")));
    expect(new Set(given.map(String)).size).toBe(1);
    expect(creations()).toBe(1);
  });

  it("is wrapped again if the version of its key was destroyed while the secret was written", async () => {
    const { store } = memory();
    const [before, after] = [KEY, randomBytes(32)];
    let keys = [before];
    const changing = new LocalKeyEncryption({ read: async () => keys, advice: "", description: "" });
    const create: KeyStore["create"] = async (id, wrapped) => {
      keys = [after];
      return store.create(id, wrapped);
    };
    const secret = await new Secrets({ ...store, create }, changing).findOrCreate("a");
    expect(await new Secrets(store, keysOf(after)).find("a")).toEqual(secret);
  });

  it("is lost if it is missing and was not destroyed on purpose", async () => {
    const secrets = new Secrets(memory().store, keysOf(KEY));
    const names = ["kept", "destroyed", "discarded"];
    for (const name of names) await secrets.findOrCreate(name);
    await secrets.destroy("destroyed");
    await secrets.discard("discarded");
    expect(await secrets.findMissing(names)).toEqual(["destroyed", "discarded"]);
    expect(await secrets.findDestroyed(names)).toEqual(["destroyed"]);
    expect(await secrets.findLost(names)).toEqual(["discarded"]);
  });

  it("is not lost if it is destroyed during the search", async () => {
    const { store } = memory();
    const secrets = new Secrets(store, keysOf(KEY));
    await secrets.findOrCreate("a");
    const findMissing: KeyStore["findMissing"] = async (ids) => {
      await secrets.destroy("a");
      return store.findMissing(ids);
    };
    expect(await new Secrets({ ...store, findMissing }, keysOf(KEY)).findLost(["a"])).toEqual([]);
  });

  it("is found without a sync if it is durable, and read once until recent secrets are forgotten", async () => {
    const { store } = memory();
    const secret = await new Secrets(store, keysOf(KEY)).findOrCreate("a");
    const readToOpen = vi.fn<KeyStore["readToOpen"]>((ids) => store.readToOpen(ids));
    const read: KeyStore["read"] = () => Promise.reject(new Error("syncs"));
    const secrets = new Secrets({ ...store, read, readToOpen }, keysOf(KEY));
    expect(await secrets.findDurable("a")).toEqual(secret);
    expect(await secrets.findDurable("a")).toEqual(secret);
    expect(readToOpen).toHaveBeenCalledTimes(1);
    secrets.forgetRecent();
    await store.discard(secretId("a"));
    expect(await secrets.findDurable("a")).toBeUndefined();
  });

  it("is read again after a failure", async () => {
    const { store } = memory();
    let away = true;
    const secrets = new Secrets(
      { ...store, read: (name) => (away ? Promise.reject(new Error("away")) : store.read(name)) },
      keysOf(KEY),
    );
    await expect(secrets.findOrCreate("a")).rejects.toThrow("away");
    away = false;
    expect(await secrets.findOrCreate("a")).toHaveLength(32);
  });

  it("is stored wrapped: the store contains neither the secret nor the key, and no two wrapped secrets are alike", async () => {
    const { store, entries } = memory();
    const secret = await new Secrets(store, keysOf(KEY)).findOrCreate("a");
    const wrapped = entries.get(secretId("a")) ?? Buffer.alloc(0);
    expect(wrapped.includes(secret)).toBe(false);
    expect(wrapped.includes(KEY)).toBe(false);
    for (let at = 0; at + 8 <= wrapped.length; at++) expect(KEY.includes(wrapped.subarray(at, at + 8))).toBe(false);
  });
});

describe("a secret of a batch", () => {
  async function scene() {
    const { store } = memory();
    const reads: string[] = [];
    const readToOpen: KeyStore["readToOpen"] = (ids) => {
      reads.push(...ids);
      return store.readToOpen(ids);
    };
    const secrets = new Secrets({ ...store, readToOpen }, keysOf(KEY));
    const secret = await secrets.findOrCreate("a");
    return { secrets, secret, reads, elsewhere: new Secrets(store, keysOf(KEY)) };
  }

  it("is read once for several batches, but for each batch if it is missing", async () => {
    const { secrets, secret, reads } = await scene();
    for (let batch = 0; batch < 3; batch++)
      expect(await secrets.findForBatch(["a", "missing"])).toEqual(new Map([["a", secret]]));
    expect(reads).toEqual([secretId("a"), ...Array.from({ length: 3 }, () => secretId("missing"))]);
  });

  it("is forgotten after a second, so that a secret that another process destroys is used no longer than that", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { secrets, elsewhere } = await scene();
    await secrets.findForBatch(["a"]);
    await elsewhere.destroy("a");
    expect((await secrets.findForBatch(["a"])).size).toBe(1);
    vi.advanceTimersByTime(1_001);
    expect((await secrets.findForBatch(["a"])).size).toBe(0);
  });

  it("is forgotten at once if this process destroys or forgets it", async () => {
    const { secrets, elsewhere } = await scene();
    await secrets.findForBatch(["a"]);
    await secrets.destroy("a");
    expect((await secrets.findForBatch(["a"])).size).toBe(0);
    await secrets.findOrCreate("b");
    await secrets.findForBatch(["b"]);
    await elsewhere.destroy("b");
    secrets.forgetRecent();
    expect((await secrets.findForBatch(["b"])).size).toBe(0);
  });

  it("is not remembered if it is destroyed or forgotten during the read", async () => {
    const { secrets, elsewhere } = await scene();
    const reading = secrets.findForBatch(["a"]);
    secrets.forgetRecent();
    expect((await reading).size).toBe(1);
    await elsewhere.destroy("a");
    expect((await secrets.findForBatch(["a"])).size).toBe(0);
  });
});

describe("a wrapped secret is rejected as secret-damaged", () => {
  it("if another key-encryption key wrapped it, and the message says so", async () => {
    const { store } = memory();
    await new Secrets(store, keysOf(KEY)).findOrCreate("a");
    const others = new Secrets(store, keysOf(randomBytes(32)));
    await expect(others.find("a")).rejects.toThrow(/another key-encryption key/);
    await expect(others.findOrCreate("a"), "and never makes a second").rejects.toMatchObject({
      code: "secret-damaged",
    });
  });

  it("if any single bit was changed", async () => {
    const { store, entries } = memory();
    const secrets = new Secrets(store, keysOf(KEY));
    await secrets.findOrCreate("a");
    const wrapped = Buffer.from(entries.get(secretId("a")) ?? "");
    for (let bit = 0; bit < wrapped.length * 8; bit++) {
      const changed = Buffer.from(wrapped);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      entries.set(secretId("a"), changed);
      await expect(secrets.find("a"), `bit ${bit}`).rejects.toMatchObject({ code: "secret-damaged" });
    }
    entries.set(secretId("a"), wrapped);
    expect(await secrets.find("a")).toHaveLength(32);
  });

  it("if bytes were cut off or added, or if it is empty", async () => {
    const { store, entries } = memory();
    const secrets = new Secrets(store, keysOf(KEY));
    await secrets.findOrCreate("a");
    const wrapped = Buffer.from(entries.get(secretId("a")) ?? "");
    const others = [
      ...Array.from(wrapped.keys(), (length) => wrapped.subarray(0, length)),
      Buffer.concat([wrapped, Buffer.of(0)]),
    ];
    for (const bytes of others) {
      entries.set(secretId("a"), bytes);
      await expect(secrets.find("a"), `${bytes.length} bytes`).rejects.toMatchObject({ code: "secret-damaged" });
    }
  });

  it("if it is the secret of another name, because files were exchanged", async () => {
    const { store, entries } = memory();
    const secrets = new Secrets(store, keysOf(KEY));
    await secrets.findOrCreate("account/1/a");
    await secrets.findOrCreate("account/1/b");
    const [a, b] = [...entries.values()] as [Buffer, Buffer];
    entries.set(secretId("account/1/a"), b).set(secretId("account/1/b"), a);
    for (const name of ["account/1/a", "account/1/b"]) {
      await expect(secrets.find(name)).rejects.toThrow(/was changed/);
    }
  });
});
