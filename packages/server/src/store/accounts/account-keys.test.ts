import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import {
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "../../../../../e2e/support/database.ts";
import { temporaryFolder } from "../../../../../e2e/support/temporary-folder.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import { erasurePorts } from "../../runtime/lifecycle-ports.ts";
import type { System } from "../../runtime/system.ts";
import { beginErasure } from "../../lifecycle/erasure/begin-erasure.ts";
import { keysOf, memoryKeyStore } from "../crypto/memory-key-store.fixture.ts";
import { accountSecretName } from "../crypto/sealer.ts";
import { Secrets } from "../crypto/secrets.ts";
import { newEvent } from "../events/new-event.fixture.ts";
import { inTransactionOn } from "../postgres/database.ts";
import type { Executor } from "../postgres/executor.ts";
import { PostgresAccountKeys } from "./account-keys.ts";

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let system: System;
let owner: OwnerClient;
let statements: string[];
/** The test database passes on answers to statements once this promise is resolved. */
let answered: Promise<void>;
/** The number of statements that the database has answered. */
let answers: number;

beforeAll(async () => {
  database = await sharedDatabase();
  folder = await temporaryFolder();
  const environment = { ...(await database.environment()), DRS_ERASURE_JOURNAL: join(folder.path, "journal") };
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
});

beforeEach(() => {
  statements = [];
  answered = Promise.resolve();
  answers = 0;
});

afterEach(() => system.accountKeys.clear());

afterAll(async () => {
  await owner?.end();
  await system?.close();
  await folder?.remove();
  await database?.close();
});

function openAccountKeys(secrets = system.secrets): PostgresAccountKeys {
  const executor = {
    query: async (text: string, values?: readonly unknown[]) => {
      statements.push(text);
      const mayAnswer = answered;
      const result = await system.pool.query(text, values as unknown[]);
      answers++;
      await mayAnswer;
      return result;
    },
  };
  return new PostgresAccountKeys(executor as Executor, secrets, system.pseudonymizer);
}

/** Ensures keys of accounts on a connection of its own. @returns the ids of the keys */
async function ensureKeys(accounts: readonly string[], waitMs: number): Promise<readonly string[]> {
  const macs = accounts.map((account) => system.pseudonymizer.restrictedAccountOf(account));
  const values = [accounts, macs, accounts.map(() => 1), accounts.map(() => randomUUID()), waitMs];
  const { rows } = await system.pool.query<{ key_id: string }>(
    "select ensure_account_keys($1::text[], $2::bytea[], $3::int4[], $4::uuid[], $5) as key_id",
    values,
  );
  return rows.map(({ key_id }) => key_id);
}

async function erase(account: string): Promise<void> {
  const { journal } = system;
  if (!journal) throw new Error("no journal");
  const order = { subject: { kind: "account", account }, actor: "o", reason: "r", refuseLater: false } as const;
  const ports = { ...erasurePorts(system), journal, onUnreadable: () => {} };
  await inTransactionOn(owner, (transaction) => beginErasure(transaction, ports, order));
}

test("the first event of a known account takes one statement", async () => {
  const { keyId } = await system.accountKeys.current("known", 1);
  const keys = openAccountKeys();
  expect(await keys.isKnown("known", 1)).toBe(true);
  expect(await keys.current("known", 1)).toEqual({ keyId, keyEpoch: keys.keyEpoch });
  expect(statements).toHaveLength(1);
});

test("the first event of a new account takes two statements, and later events take none", async () => {
  const keys = openAccountKeys();
  expect(await keys.isKnown("new", 1)).toBe(false);
  const { keyId } = await keys.current("new", 1);
  expect(statements).toHaveLength(2);
  expect([await keys.isKnown("new", 1), await keys.isKnown("new", 2)]).toEqual([true, false]);
  expect((await keys.current("new", 1)).keyId).toBe(keyId);
  expect(statements).toHaveLength(3);
});

test("events that come at the same time share their statements and get one key", async () => {
  const keys = openAccountKeys();
  const known = await Promise.all(Array.from({ length: 10 }, () => keys.isKnown("crowd", 1)));
  const current = await Promise.all(Array.from({ length: 10 }, () => keys.current("crowd", 1)));
  expect([new Set(known), new Set(current.map(({ keyId }) => keyId)).size]).toEqual([new Set([false]), 1]);
  expect(statements).toHaveLength(2);
});

test("new accounts that come at the same time share their statements, and each gets its own key", async () => {
  const secrets = new Secrets(memoryKeyStore().store, keysOf(randomBytes(32)));
  const keys = openAccountKeys(secrets);
  const accounts = Array.from({ length: 64 }, (_, index) => `together-${index}`);
  const known = await Promise.all(accounts.map((account) => keys.isKnown(account, 1)));
  expect(new Set(known)).toEqual(new Set([false]));
  const made = await Promise.all(accounts.map((account) => keys.current(account, 1)));
  expect(statements).toHaveLength(2);
  const { rows } = await owner.query<{ account: string; key_id: string }>(
    "select account, key_id from account_key where account like 'together-%'",
  );
  expect(new Map(rows.map(({ account, key_id }) => [account, key_id]))).toEqual(
    new Map(accounts.map((account, index) => [account, made[index]?.keyId])),
  );
  const stored = await Promise.all(made.map(({ keyId }) => secrets.find(accountSecretName(keyId))));
  expect(made.map(({ secret }) => secret)).toEqual(stored);
  expect(await Promise.all(accounts.map((account) => openAccountKeys().isKnown(account, 1)))).not.toContain(false);
});

test("a new account whose key can't be created fails alone", async () => {
  const keys = openAccountKeys();
  const purposes = { "fine-1": 1, "no purpose": 999, "fine-2": 1 };
  const made = await Promise.allSettled(
    Object.entries(purposes).map(([account, purpose]) => keys.current(account, purpose)),
  );
  expect(made.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("a new account that waits for an order about its restrictions delays no other account for long", async () => {
  const keys = openAccountKeys();
  const mac = system.pseudonymizer.restrictedAccountOf("ordered");
  await owner.query("begin");
  await owner.query("select apply_restrictions($1, 'ordered')", [mac]);
  let waits = true;
  const ordered = Promise.resolve(keys.current("ordered", 1)).finally(() => (waits = false));
  expect((await keys.current("another", 1)).keyId).toBeDefined();
  expect([await keys.isKnown("another", 2), waits]).toEqual([false, true]);
  await owner.query("commit");
  expect((await ordered).keyId).toBeDefined();
});

test("servers that create keys of the same new accounts in different orders do not wait for each other in a circle", async () => {
  for (let round = 0; round < 20; round++) {
    const accounts = Array.from({ length: 64 }, (_, index) => `circle-${round}-${index}`);
    const both = [accounts, accounts.toReversed()].map((ordered) => ensureKeys(ordered, 200));
    const [first, second] = await Promise.all(both);
    expect(second?.toReversed()).toEqual(first);
  }
});

test("an account gets no key if a login of the database gave its MAC to another account", async () => {
  const mac = system.pseudonymizer.restrictedAccountOf("robbed");
  await owner.query("insert into account_identity (account, account_mac) values ('robber', $1)", [mac]);
  const keys = openAccountKeys();
  const made = await Promise.allSettled(["robbed", "beside"].map((account) => keys.current(account, 1)));
  expect(made.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect((await owner.query("select from account_key where account = 'robbed'")).rowCount).toBe(0);
});

test("a key that another server has created first is used, and the secret made for it is deleted", async () => {
  const keys = openAccountKeys();
  await Promise.all(["first-1", "first-2"].map((account) => keys.isKnown(account, 1)));
  const { keyId } = await system.accountKeys.current("first-2", 1);
  const created = vi.spyOn(system.secrets, "create");
  const discarded = vi.spyOn(system.secrets, "discard");
  onTestFinished(() => void vi.restoreAllMocks());
  const [own, other] = await Promise.all(["first-1", "first-2"].map((account) => keys.current(account, 1)));
  expect(other).toEqual({ keyId, keyEpoch: keys.keyEpoch });
  const unused = created.mock.calls.flat().filter((name) => name !== accountSecretName(own?.keyId ?? ""));
  expect(discarded.mock.calls.flat()).toEqual(unused);
  expect(await system.secrets.findMissing(unused)).toEqual(unused);
});

test("an account whose key another server has created after the look-up gets no second key", async () => {
  const keys = openAccountKeys();
  expect(await keys.isKnown("elsewhere", 1)).toBe(false);
  const { keyId } = await system.accountKeys.current("elsewhere", 1);
  expect((await keys.current("elsewhere", 1)).keyId).toBe(keyId);
});

test("an erasure between the two look-ups is detected", async () => {
  const { keyId } = await system.accountKeys.current("erased", 1);
  const keys = openAccountKeys();
  await keys.refresh();
  const { keyEpoch } = keys;
  expect(await keys.isKnown("erased", 1)).toBe(true);
  await erase("erased");
  expect(await keys.current("erased", 1), "sealed in a key epoch that is over").toEqual({ keyId, keyEpoch });
  await keys.refresh();
  expect(keys.keyEpoch).not.toEqual(keyEpoch);
  expect(await keys.isKnown("erased", 1)).toBe(false);
  expect((await keys.current("erased", 1)).keyId).not.toBe(keyId);
});

test("sealing under the existing key creates no key for an account whose erasure was not noticed yet", async () => {
  const { keyId } = await system.accountKeys.current("unnoticed", 1);
  await erase("unnoticed");
  await system.secrets.destroy(accountSecretName(keyId));
  expect(await system.accountKeys.isKnown("unnoticed", 1), "as far as the server knows").toBe(true);
  const event = newEvent({ account: "unnoticed" });
  expect(await system.sealer.sealUnderExistingKey(event, Buffer.from("{}"))).toBeUndefined();
  const { rows } = await owner.query(
    `select from account_key where account = 'unnoticed' and erased_by is null
      union all select from account_identity where account = 'unnoticed'`,
  );
  expect(rows).toEqual([]);
});

test("a key that was found during an erasure is not remembered", async () => {
  await system.accountKeys.current("late", 1);
  const keys = openAccountKeys();
  await keys.refresh();
  const answer = Promise.withResolvers<void>();
  answered = answer.promise;
  answers = 0;
  const finding = keys.isKnown("late", 1);
  await expect.poll(() => answers, { interval: 5 }).toBe(1);
  answered = Promise.resolve();
  await erase("late");
  await keys.refresh();
  answer.resolve();
  expect(await finding).toBe(true);
  expect(await keys.isKnown("late", 1)).toBe(false);
});

test("a look-up that began before a failover is not shared after the failover", async () => {
  const before = await system.accountKeys.current("moved", 1);
  const keys = openAccountKeys();
  const answer = Promise.withResolvers<void>();
  answered = answer.promise;
  const finding = keys.current("moved", 1);
  await expect.poll(() => answers, { interval: 5 }).toBe(1);
  answered = Promise.resolve();
  // From here on, statements go to a database that lacks the account.
  keys.clear();
  await owner.query(
    "set session_replication_role = replica; delete from account_key where account = 'moved'; reset session_replication_role",
  );
  const after = await keys.current("moved", 1);
  answer.resolve();
  expect((await finding).keyId).toBe(before.keyId);
  expect(after.keyId).not.toBe(before.keyId);
  expect((await keys.current("moved", 1)).keyId).toBe(after.keyId);
});
