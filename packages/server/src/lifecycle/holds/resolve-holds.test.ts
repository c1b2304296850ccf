/** The search for the subjects of holds that a replay placed, of which only keyed MACs are known. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { makeCredentials } from "../../../../../e2e/support/parties.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { type Executor, type OwnerConnection, type OwnerTransaction, textOf } from "../../store/postgres/executor.ts";
import { applyHoldOrder } from "./hold-orders.ts";
import { type ResolveOptions, resolveHolds } from "./resolve-holds.ts";
import { SearchBackoff } from "./search-backoff.ts";

const opened = useTestSystem("test");

async function replayHold(account: string): Promise<void> {
  const mac = opened.system.pseudonymizer.heldSubjectOf("account", account).toString("hex");
  await applyHoldOrder(opened.owner as Executor as OwnerTransaction, opened.system.secrets, {
    version: 1,
    sequence: 1,
    installation: opened.system.codec.installation,
    previous: "",
    kind: "hold-placed",
    hold_id: randomUUID(),
    subject: { of: "account", mac },
    review_on: "2999-01-31",
    at: new Date().toISOString(),
  });
}

const accounts = async (): Promise<unknown[]> =>
  (await opened.owner.query<{ account: string }>("select account from legal_hold order by account")).rows.map(
    ({ account }) => account,
  );

/** Runs one search. @returns the tables that it read, and the number of owner's connections that it used. */
async function search(
  options: Omit<ResolveOptions, "reading" | "asOwner"> = {},
): Promise<{ tables: unknown[]; owners: number }> {
  const tables: unknown[] = [];
  let owners = 0;
  const reading: Executor = {
    query(statement, values) {
      tables.push(/ as name from (\w+)/.exec(textOf(statement))?.[1]);
      return (opened.system.pool as Executor).query(statement, values);
    },
  };
  const asOwner = async (work: (connection: OwnerConnection) => Promise<void>): Promise<void> => {
    owners++;
    await work(opened.owner);
  };
  await resolveHolds(opened.system.pool, opened.system.pseudonymizer, { ...options, reading, asOwner });
  return { tables, owners };
}

test("a search ends when it has found all subjects, and uses one owner's connection to record them", async () => {
  for (const account of ["alice", "bob", "carol"]) await makeCredentials(opened.system, account);
  for (const account of ["bob", "alice", "alice"]) await replayHold(account);
  expect(await search()).toEqual({ tables: ["account_identity"], owners: 1 });
  expect(await accounts()).toEqual(["alice", "alice", "bob"]);
});

test("an unknown subject of a hold is searched for less and less often, and is found after its account appears", async () => {
  await replayHold("erin");
  let now = 0;
  const backoff = new SearchBackoff(() => now);
  const pass = (): Promise<unknown> => search({ backoff });
  expect(await pass()).toMatchObject({ tables: expect.arrayContaining(["account_identity", "held_event"]), owners: 0 });
  await makeCredentials(opened.system, "erin");
  now = 9_999;
  expect(await pass()).toEqual({ tables: [], owners: 0 });
  now = 10_000;
  expect(await pass()).toEqual({ tables: ["account_identity"], owners: 1 });
  expect(await accounts()).toEqual(["erin"]);
});
