import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { keysOf, memoryKeyStore } from "./memory-key-store.fixture.ts";
import { listKeyVersions, rewrap } from "./rotation.ts";
import { secretId } from "./secrets.ts";

it("a rotation also wraps again a secret that a server wraps under the previous version during the rotation", async () => {
  const [old, current] = [randomBytes(32), randomBytes(32)];
  const { store } = memoryKeyStore();
  const secret = randomBytes(32);
  const wrapOld = (name: string): Promise<Buffer> => keysOf(old).wrap(secret, Buffer.from(secretId(name), "hex"));
  await store.create(secretId("a"), await wrapOld("a"));
  const late = {
    ...store,
    replace: async (...args: Parameters<typeof store.replace>) => {
      const done = await store.replace(...args);
      await store.create(secretId("late"), await wrapOld("late"));
      return done;
    },
  };
  const keys = keysOf(old, current);
  expect(await rewrap(late, keys, () => {})).toBe(2);
  expect((await listKeyVersions(store, keys)).map(({ secrets }) => secrets)).toEqual([0, 2]);
  const wrapped = await store.read(secretId("late"));
  expect(await keys.unwrap(wrapped ?? Buffer.alloc(0), Buffer.from(secretId("late"), "hex"))).toEqual(secret);
});
