import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import { Past } from "../../../../../e2e/support/past-event.ts";
import { auditSecretName } from "../../audit/personal-detail.ts";
import { holdSecretName } from "../../store/crypto/sealer.ts";
import { partitionSecretName } from "../../store/crypto/partition-secrets.ts";
import { inTransactionOn } from "../../store/postgres/database.ts";
import type { OwnerTransaction } from "../../store/postgres/executor.ts";
import { copyHeldEvents, type HeldEvent } from "../holds/copy-held-events.ts";
import { placeHold } from "../holds/hold-table.ts";
import { findLostSecrets, lostInUse } from "./lost-secrets.ts";

const opened = useTestSystem();
let past: Past;

beforeAll(() => {
  past = new Past(opened.system);
});

afterAll(() => past?.close());

const inOwnerTransaction = <T>(work: (transaction: OwnerTransaction) => Promise<T>): Promise<T> =>
  inTransactionOn(opened.owner, work);

async function placeOn(account: string): Promise<string> {
  const subject = { of: "account", value: account } as const;
  const order = { subject, reason: "r", approver: "a", reviewOn: "2999-01-31", actor: "o", includeRestricted: true };
  const id = (await inOwnerTransaction((transaction) => placeHold(transaction, order)))?.hold_id ?? "";
  await opened.system.secrets.findOrCreate(holdSecretName(id));
  return id;
}

const copyUnder = (holdId: string, eventId: string): Promise<number> =>
  inOwnerTransaction(async (transaction) => {
    const text = "select account, purpose, received_at, event_id, $2::uuid as hold_id from event where event_id = $1";
    const { rows } = await opened.owner.query<HeldEvent>(text, [eventId, holdId]);
    return copyHeldEvents(transaction, opened.system, async function* () {
      yield* rows;
    });
  });

const lost = (): Promise<readonly (readonly string[])[]> =>
  Promise.all([
    lostInUse(opened.system.pool, opened.system.secrets),
    findLostSecrets(opened.system.pool, opened.system.secrets),
  ]);

test("the lost secret of the oldest of many active holds is found", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 6; count++) {
    const { account } = await past.store(0, { account: randomUUID() });
    ids.push(await placeOn(account));
  }
  const name = holdSecretName(ids[0] ?? "");
  await opened.system.secrets.discard(name);
  expect(await lost()).toEqual([[name], [name]]);
  await opened.owner.query("update legal_hold set lifted_at = now(), lifted_by = 'o', lift_reason = 'r'");
  expect(await lost(), "a lifted hold without a copy needs none").toEqual([[], []]);
});

test("no copy is made under a lost secret, and an existing copy under it counts as lost", async () => {
  const account = randomUUID();
  const first = await past.store(0, { account });
  const second = await past.store(0, { account });
  const lifted = await placeOn(account);
  await placeOn(account);
  expect(await copyUnder(lifted, first.eventId)).toBe(1);
  const name = holdSecretName(lifted);
  await opened.system.secrets.discard(name);
  await expect(copyUnder(lifted, second.eventId)).rejects.toThrow(`lacks the secret ${name}`);
  expect(await opened.system.secrets.findMissing([name])).toEqual([name]);

  const end = "update legal_hold set lifted_at = now(), lifted_by = 'o', lift_reason = 'r' where hold_id = $1";
  await opened.owner.query(end, [lifted]);
  expect(await lost(), "the other hold covers the copy").toEqual([[name], [name]]);
  await opened.owner.query("set session_replication_role = replica");
  await opened.owner.query("update held_event set payload = '' where hold_id = $1", [lifted]);
  await opened.owner.query("reset session_replication_role");
  expect(await lost(), "a copy without a payload needs no secret").toEqual([[], []]);
});

/** @returns the name of the secret of a dropped partition. The key store has neither the secret nor a record of it. */
async function droppedPartition(): Promise<string> {
  const { rows } = await opened.owner.query<{ id: string }>(
    `insert into event_partition (purpose, lower_bound, upper_bound, table_name, dropped_at, secret_destroyed_at)
      select 1, start, start + interval '1 hour', gen_random_uuid(), transaction_time(), transaction_time()
      from (select timestamptz '2001-01-01' + random() * interval '1 year' as start) of_random_time
      returning partition_id as id`,
  );
  return partitionSecretName(rows[0]?.id ?? "");
}

test("the secret of a dropped partition, which a restored key store has, is destroyed again at the next start", async () => {
  const { system, environment } = opened;
  const name = await droppedPartition();
  // A key store that was merged from an older and a newer copy has both the secret and its destruction record.
  await system.secrets.destroy(name);
  await system.secrets.findOrCreate(name);
  await (await openTestSystem(environment)).close();
  expect(await system.secrets.findMissing([name])).toEqual([name]);
});

test("the audit secret of an erased account, which a restored key store has, is destroyed again", async () => {
  const { system, owner } = opened;
  const id = randomUUID();
  await owner.query(
    `insert into audit_secret (secret_id, subject, ended_at, destroyed_at)
      values ($1, '\\x00', transaction_time(), transaction_time())`,
    [id],
  );
  await system.secrets.findOrCreate(auditSecretName(id));
  await system.replay();
  expect(await system.secrets.findMissing([auditSecretName(id)])).toHaveLength(1);
});

test("a running server records the destruction of a secret again if a restored key store lacks the record", async () => {
  const { system } = opened;
  const name = await droppedPartition();
  expect(await system.secrets.findDestroyed([name])).toEqual([]);
  await system.replay();
  expect(await system.secrets.findDestroyed([name])).toEqual([name]);
});
