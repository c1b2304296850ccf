import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "../../../../e2e/support/database.ts";
import { temporaryFolder } from "../../../../e2e/support/temporary-folder.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import { makeUnwritable } from "../../../../e2e/support/make-unwritable.ts";
import { openTestSystem } from "../../../../e2e/support/parties.ts";
import { Past } from "../../../../e2e/support/past-event.ts";
import { accountSecretName } from "../store/crypto/sealer.ts";
import { secretId } from "../store/crypto/secrets.ts";
import { beginErasure } from "../lifecycle/erasure/begin-erasure.ts";
import { Unavailable } from "../base/ports.ts";
import { inTransactionOn } from "../store/postgres/database.ts";
import { superviseDependencies } from "./supervision.ts";
import { erasurePorts } from "./lifecycle-ports.ts";

let database: TestDatabase;
let folder: { path: string; remove: () => Promise<void> };

beforeAll(async () => {
  database = await sharedDatabase();
  folder = await temporaryFolder();
});

afterAll(async () => {
  await folder?.remove();
  await database?.close();
});

test("an inspection is rejected while the key store lacks a secret, so that no pass runs", async () => {
  const system = await openTestSystem(await database.environment());
  const past = new Past(system);
  const supervision = superviseDependencies(system, () => {});
  try {
    await past.store(0, { account: "one" });
    await supervision.inspect();
    const { keyId } = await system.accountKeys.current("one", 1);
    const id = secretId(accountSecretName(keyId));
    const wrapped = (await system.keyStore.read(id)) ?? Buffer.alloc(0);
    await system.keyStore.discard(id);
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
  }
});

test("the key store is inspected between passes, also by a process that runs no passes", async () => {
  const system = await openTestSystem(await database.environment());
  const past = new Past(system);
  const timing = { pace: { everyMs: 10, retryMs: 10 }, inspectEveryMs: 10 };
  const supervision = superviseDependencies(system, () => {}, timing);
  const problems = (): readonly string[] => system.dependencies.get("key_store").health.problems;
  try {
    await past.store(0, { account: "one" });
    await until(async () => problems().length === 0);
    const { keyId } = await system.accountKeys.current("one", 1);
    await system.secrets.discard(accountSecretName(keyId));
    await until(async () => problems().some((problem) => problem.includes("lacks 1 secret")));
  } finally {
    await supervision.close();
    await past.close();
    await system.close();
  }
});

test.each([
  ["key_store", "DRS_KEY_DIR"],
  ["erasure_journal", "DRS_ERASURE_JOURNAL"],
  ["audit_checkpoints", "DRS_AUDIT_CHECKPOINTS"],
] as const)("the folder of %s is tried by a write, although nothing is stored in it", async (name, variable) => {
  const path = join(folder.path, variable);
  const system = await openTestSystem({ ...(await database.environment()), [variable]: path });
  await mkdir(path, { recursive: true });
  const { restore } = await makeUnwritable(path);
  const supervision = superviseDependencies(system, () => {}, { pace: { everyMs: 10, retryMs: 10 } });
  const dependency = system.dependencies.get(name);
  try {
    await until(() => dependency.health.problems.some((problem) => problem.includes(path)));
    await restore();
    await until(() => dependency.isUp);
  } finally {
    await restore();
    await supervision.close();
    await system.close();
  }
});

test("the owner's login is watched: it may be refused although its open connection still works", async () => {
  const environment = await database.environment();
  const login = `owner_${randomBytes(4).toString("hex")}`;
  const owner = await connectAsOwner(environment);
  await owner.query(`create role ${login} login superuser`);
  const url = (environment["DRS_DATABASE_URL"] ?? "").replace("postgres@", `${login}@`);
  const system = await openTestSystem({ ...environment, DRS_MIGRATION_DATABASE_URL: url });
  const supervision = superviseDependencies(system, () => {}, { pace: { everyMs: 10, retryMs: 10 } });
  const dependency = system.dependencies.get("owner_database");
  try {
    await until(
      async () => (await owner.query("select from pg_stat_activity where usename = $1", [login])).rowCount === 1,
    );
    // Open connections remain, as after a change of the password.
    await owner.query(`alter role ${login} nologin`);
    await until(() => dependency.health.problems.some((problem) => problem.includes("refuses the login")));
    await owner.query(`alter role ${login} login`);
    await until(() => dependency.isUp);
  } finally {
    await supervision.close();
    await system.close();
    await owner.query(`drop role ${login}`);
    await owner.end();
  }
});

test("a key that was found in a database which lacked the key's erasure seals nothing after the replay", async () => {
  const environment = { ...(await database.environment()), DRS_ERASURE_JOURNAL: join(folder.path, "journal") };
  const system = await openTestSystem(environment);
  const owner = await connectAsOwner(environment);
  const past = new Past(system);
  const supervision = superviseDependencies(system, () => {});
  const { accountKeys, journal } = system;
  if (!journal) throw new Error("no journal");
  try {
    await past.store(0, { account: "one" });
    const ports = { ...erasurePorts(system), journal, onUnreadable: () => {} };
    const order = {
      subject: { kind: "account", account: "one" },
      actor: "o",
      reason: "r",
      refuseLater: false,
    } as const;
    expect(await inTransactionOn(owner, (transaction) => beginErasure(transaction, ports, order))).toBe(1);
    await accountKeys.refresh();
    // Simulates a failover to a standby that lacks the erasure, while a request that was accepted before it is still
    // being processed.
    await owner.query(`set session_replication_role = replica; update account_key set erased_by = null;
      delete from erasure; delete from journal_entry`);
    accountKeys.clear();
    const { keyId } = await accountKeys.current("one", 1);
    const { generation } = accountKeys;
    await supervision.inspect();
    expect((await accountKeys.current("one", 1)).keyId).not.toBe(keyId);
    expect(accountKeys.generation, "what was sealed under it is stale").toBeGreaterThan(generation);
  } finally {
    await supervision.close();
    await past.close();
    await owner.end();
    await system.close();
  }
});
