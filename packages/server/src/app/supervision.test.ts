import { expect, test } from "vitest";
import { sharedDatabase } from "../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../e2e/support/parties.ts";
import { Past } from "../../../../e2e/support/past-event.ts";
import { accountSecretName } from "../crypto/sealer.ts";
import { secretId } from "../crypto/secrets.ts";
import { Unavailable } from "../ports.ts";
import { superviseDependencies } from "./supervision.ts";

test("an inspection is rejected while the key store lacks a secret, so that no pass runs", async () => {
  const database = await sharedDatabase();
  const system = await openTestSystem(await database.environment());
  const past = new Past(system);
  const supervision = superviseDependencies(system, () => {});
  try {
    await past.store(0, { account: "one" });
    await supervision.inspect();
    const { keyId } = await system.accountKeys.current("one", 1);
    const id = secretId(accountSecretName(keyId));
    const wrapped = (await system.keyStore.read(id)) ?? Buffer.alloc(0);
    await system.keyStore.destroy(id);
    await expect(supervision.inspect()).rejects.toThrow(Unavailable);
    const { health } = system.dependencies.get("key_store");
    expect(health.problems).toEqual([expect.stringContaining("lacks 1 secret")]);
    await system.keyStore.create(id, wrapped);
    await supervision.inspect();
    expect(system.dependencies.get("key_store").health.problems).toEqual([]);
  } finally {
    await supervision.close();
    await past.close();
    await system.close();
    await database.close();
  }
});
