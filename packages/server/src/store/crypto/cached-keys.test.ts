import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { Unavailable } from "../../base/ports.ts";
import { cacheKeys, SEARCH_EVERY_MS } from "./cached-keys.ts";
import { LocalKeyEncryption, versionOfKey } from "./key-encryption.ts";

const CONTEXT = Buffer.from("context");
const TEXTS = { description: "a key service", advice: "add a key there" };

describe("keys that are held in memory", () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const secret = randomBytes(32);
  let sourceKeys: readonly Buffer[] | undefined;
  let loads: number;
  let now: number;

  beforeEach(() => {
    now = 0;
    sourceKeys = [first];
    loads = 0;
  });

  async function load(): Promise<readonly Buffer[]> {
    loads++;
    if (!sourceKeys) throw new Unavailable("the key service is away");
    return sourceKeys;
  }

  const open = async (): Promise<LocalKeyEncryption> =>
    new LocalKeyEncryption(await cacheKeys(load, TEXTS, { now: () => now }));

  /** Wraps the secret as a second server does, which already has both keys. */
  const wrappedBySecond = (): Promise<Buffer> =>
    new LocalKeyEncryption({ ...TEXTS, read: async () => [first, second] }).wrap(secret, CONTEXT);

  it("are read once, and are available while the source is not", async () => {
    const keys = await open();
    sourceKeys = undefined;
    for (let n = 0; n < 3; n++) expect(await keys.unwrap(await keys.wrap(secret, CONTEXT), CONTEXT)).toEqual(secret);
    expect(await keys.versions()).toEqual([versionOfKey(first)]);
    expect(loads).toBe(1);
  });

  it("can't be loaded at first if the source is not available", async () => {
    sourceKeys = undefined;
    await expect(open()).rejects.toThrow("the key service is away");
  });

  it("are read again if a secret is wrapped under an unknown key", async () => {
    const keys = await open();
    sourceKeys = [first, second];
    const wrapped = await wrappedBySecond();
    const all = await Promise.all([1, 2, 3].map(() => keys.unwrap(wrapped, CONTEXT)));
    expect(all).toEqual([secret, secret, secret]);
    expect(loads).toBe(2);
    expect(keys.versionOf(await keys.wrap(secret, CONTEXT))).toBe(versionOfKey(second));
  });

  it("are not read again for some seconds after the source lacked a key", async () => {
    const keys = await open();
    const wrapped = await wrappedBySecond();
    const missing = expect.objectContaining({ code: "secret-damaged" }) as Error;
    for (let n = 0; n < 5; n++) await expect(keys.unwrap(wrapped, CONTEXT)).rejects.toEqual(missing);
    now += SEARCH_EVERY_MS - 1;
    await expect(keys.unwrap(wrapped, CONTEXT)).rejects.toEqual(missing);
    expect(loads).toBe(2);
    sourceKeys = undefined;
    now++;
    for (let n = 0; n < 5; n++) await expect(keys.unwrap(wrapped, CONTEXT)).rejects.toThrow("is away");
    expect(loads).toBe(3);
    sourceKeys = [first, second];
    now += SEARCH_EVERY_MS;
    expect(await keys.unwrap(wrapped, CONTEXT)).toEqual(secret);
  });

  it("are read again when an operator asks, and remain in memory if that read fails", async () => {
    const keys = await open();
    sourceKeys = [first, second];
    expect(await keys.reload()).toBe(true);
    expect(await keys.versions()).toEqual([first, second].map(versionOfKey));
    sourceKeys = undefined;
    await expect(keys.reload()).rejects.toThrow("is away");
    expect(await keys.versions()).toHaveLength(2);
  });

  it("come from the read that began last, even if an earlier read ends later", async () => {
    const reads: PromiseWithResolvers<readonly Buffer[]>[] = [];
    const source = await cacheKeys(() => {
      const read = Promise.withResolvers<readonly Buffer[]>();
      reads.push(read);
      if (reads.length === 1) read.resolve([first]);
      return read.promise;
    }, TEXTS);
    const [earlier, later] = [source.search?.(), source.reload?.()];
    reads[2]?.resolve([first, second]);
    expect(await later).toEqual([first, second]);
    reads[1]?.resolve([first]);
    expect(await earlier).toEqual([first, second]);
    expect(await source.read()).toEqual([first, second]);
  });

  it("unwrap nothing after the source has removed them", async () => {
    sourceKeys = [first, second];
    const keys = await open();
    const wrapped = await keys.wrap(secret, CONTEXT);
    expect(await keys.unwrap(wrapped, CONTEXT)).toEqual(secret);
    sourceKeys = [first];
    await keys.reload();
    await expect(keys.unwrap(wrapped, CONTEXT)).rejects.toMatchObject({ code: "secret-damaged" });
  });

  it("have versions that can be changed only in their source", async () => {
    const keys = await open();
    const fixed = expect.objectContaining({ code: "key-versions-fixed", message: TEXTS.advice }) as Error;
    await expect(keys.rotate()).rejects.toEqual(fixed);
    await expect(keys.destroy(versionOfKey(first))).rejects.toEqual(fixed);
  });
});
