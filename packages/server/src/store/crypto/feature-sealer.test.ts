import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createFeatureSealer, type FeatureRowIdentity } from "./feature-sealer.ts";
import { keysOf, memoryKeyStore } from "./memory-key-store.fixture.ts";
import type { PartitionSecrets } from "./partition-secrets.ts";
import { sealFeatures } from "./seal-features.fixture.ts";
import { accountSecretName, holdSecretName } from "./sealer.ts";
import { Secrets } from "./secrets.ts";

const KEY_ID = "key-1";
const IDENTITY: FeatureRowIdentity = { account: "one", eventId: "event-1", layer: 1, purpose: 1, receivedAt: 0 };
const VALUES = Buffer.from('["telling"]');

async function scene() {
  const secrets = new Secrets(memoryKeyStore().store, keysOf(randomBytes(32)));
  await secrets.findOrCreate(accountSecretName(KEY_ID));
  let wasCreated = false;
  const find = (): PartitionSecrets => ({ secret: "partition", wasCreated, lostSecrets: [], end: Infinity });
  const recordCreated = async (): Promise<void> => void (wasCreated = true);
  return {
    secrets,
    sealer: createFeatureSealer(secrets, { find, ensure: async () => find(), recordCreated }, async (id) => [id]),
  };
}

describe("the sealer of feature values", () => {
  it("opens values only for the event, account and layer for which they were sealed", async () => {
    const { sealer } = await scene();
    const sealed = await sealFeatures(sealer, IDENTITY, KEY_ID, VALUES);
    expect(sealed.includes("telling")).toBe(false);
    expect(await sealer.open(IDENTITY, KEY_ID, sealed)).toEqual(VALUES);
    for (const other of [{ account: "two" }, { eventId: "event-2" }, { layer: 2 }]) {
      const opening = sealer.open({ ...IDENTITY, ...other }, KEY_ID, sealed);
      await expect(opening).rejects.toMatchObject({ code: "payload-damaged" });
    }
  });

  it("detects each changed byte", async () => {
    const { sealer } = await scene();
    const sealed = await sealFeatures(sealer, IDENTITY, KEY_ID, VALUES);
    for (const at of sealed.keys()) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(sealer.open(IDENTITY, KEY_ID, changed)).rejects.toMatchObject({ code: "payload-damaged" });
    }
  });

  it("opens many rows, except a row of another account and a changed row", async () => {
    const { sealer, secrets } = await scene();
    await secrets.findOrCreate(accountSecretName("key-2"));
    const [one, two] = [
      await sealFeatures(sealer, IDENTITY, KEY_ID, VALUES),
      await sealFeatures(sealer, IDENTITY, "key-2", VALUES),
    ];
    const changed = Buffer.from(one);
    changed[20] = (changed[20] ?? 0) ^ 1;
    const rows = [
      { keyId: KEY_ID, payload: one },
      { keyId: KEY_ID, payload: two },
      { keyId: "key-2", payload: two },
      { keyId: KEY_ID, payload: changed },
      { keyId: "key-3", payload: one },
    ].map((row) => ({ ...row, identity: IDENTITY, holdId: null }));
    expect(await sealer.openMany(rows)).toEqual([VALUES, undefined, VALUES, undefined, undefined]);
  });

  it("seals and opens nothing under a destroyed secret of an account", async () => {
    const { sealer, secrets } = await scene();
    const sealed = await sealFeatures(sealer, IDENTITY, KEY_ID, VALUES);
    await secrets.destroy(accountSecretName(KEY_ID));
    sealer.forgetKeys();
    await expect(sealFeatures(sealer, IDENTITY, KEY_ID, VALUES)).rejects.toMatchObject({ code: "keys-destroyed" });
    await expect(sealer.open(IDENTITY, KEY_ID, sealed)).rejects.toMatchObject({ code: "keys-destroyed" });
  });

  it("opens a held copy only for its own event and layer, and only with the secret of its hold", async () => {
    const { sealer, secrets } = await scene();
    for (const id of ["one", "two"]) await secrets.findOrCreate(holdSecretName(id));
    const sealed = await sealer.sealCopy(IDENTITY, "one", VALUES);
    expect(await sealer.openCopy(IDENTITY, "one", sealed)).toEqual(VALUES);
    for (const [identity, hold] of [[{ ...IDENTITY, layer: 2 }, "one"] as const, [IDENTITY, "two"] as const]) {
      await expect(sealer.openCopy(identity, hold, sealed)).rejects.toMatchObject({ code: "payload-damaged" });
    }
    await secrets.destroy(holdSecretName("one"));
    await expect(sealer.openCopy(IDENTITY, "one", sealed)).rejects.toMatchObject({ code: "keys-destroyed" });
    await expect(sealer.sealCopy(IDENTITY, "three", VALUES)).rejects.toThrow("three");
  });
});
