import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { ROLE_NAMES, scopeOf } from "@device-risk-signals/admin-api";
import { reject } from "@device-risk-signals/contract";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { BufferedRecentRejections } from "../../ingest/recent-rejections/recent-rejections.ts";
import { placeRestriction } from "../../lifecycle/restrictions/restriction-table.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);

async function store(...accounts: readonly (string | undefined)[]): Promise<void> {
  const { pool, accountKeys } = scene.system;
  const onError = (error: unknown): never => {
    throw error;
  };
  const log = new BufferedRecentRejections({
    executor: pool,
    monotonic: performance,
    keyEpoch: () => accountKeys.keyEpoch,
    onError,
  });
  const wrong = reject("action-refused", undefined, "/action_id");
  for (const account of accounts) {
    log.add({ rejection: wrong, cause: "expired", sdkVersion: "1.2.3", account, peer: "192.0.2.1" });
  }
  await log.close();
}

beforeEach(async () => {
  listener.pass(60_000);
  await scene.owner.query("truncate recent_rejection");
});

async function entries(): Promise<number> {
  const { rows } = await scene.owner.query<{ count: string }>(
    "select count(*) from audit_entry where operation = 'rejection.recent' and outcome = 'done'",
  );
  return Number(rows[0]?.count);
}

describe("the list of the latest rejected requests", () => {
  it("has each with its status, newest first, in pages and by filter", async () => {
    await store("a", undefined, "b");
    const client = await listener.client(["analyst"]);
    const first = await client.call("listRecentRejections", { limit: 2 });
    expect(first.rejections).toMatchObject([
      {
        status: 403,
        problem: "action-refused",
        cause: "expired",
        rules: [{ violation: null, place: "/action_id" }],
        more: false,
        sdk_version: "1.2.3",
        account: "b",
      },
      { account: null },
    ]);
    const second = await client.call("listRecentRejections", { limit: 2, after: first.next ?? "" });
    expect([second.rejections.map(({ account }) => account), second.next]).toEqual([["a"], null]);
    const of = async (filter: object) =>
      (await client.call("listRecentRejections", filter)).rejections.map(({ account }) => account);
    expect(await of({ account: "a" })).toEqual(["a"]);
    expect(await of({ problem: "request-invalid" })).toEqual([]);
    expect(await of({ sdk_version: "1.2.3", problem: "action-refused" })).toEqual(["b", null, "a"]);
    await expect(client.call("listRecentRejections", { after: "-1" })).rejects.toMatchObject({ status: 400 });
    await expect(client.call("listRecentRejections", { after: "1; drop" })).rejects.toMatchObject({ status: 400 });
  });

  it("is for the roles of the permission, and an operator sees pseudonyms and searches no name", async () => {
    await store("a");
    for (const role of ROLE_NAMES.filter((one) => scopeOf("rejections.read", [one]) === undefined)) {
      const refused = (await listener.client([role])).call("listRecentRejections", {});
      await expect(refused, role).rejects.toMatchObject({ code: "permission-missing" });
    }
    const operator = await listener.client(["operator"]);
    const [shown] = (await operator.call("listRecentRejections", {})).rejections;
    expect(shown?.account).toMatch(/^[0-9a-f]{32}$/);
    await expect(operator.call("listRecentRejections", { account: "a" })).rejects.toThrow("pseudonym");
  });

  it("is audited once per person, filter and ten minutes", async () => {
    const ann = await listener.client(["investigator"], { person: "ann" });
    const before = await entries();
    for (let count = 0; count < 4; count++) await ann.call("listRecentRejections", {});
    expect(await entries()).toBe(before + 1);
    await ann.call("listRecentRejections", { account: "a" });
    expect(await entries()).toBe(before + 2);
    listener.pass(600_000);
    await ann.call("listRecentRejections", {});
    expect(await entries()).toBe(before + 3);
  });

  it("leaves out accounts whose processing is restricted", async () => {
    const { administration, clock, pseudonymizer } = scene.system;
    const account = `restricted-${randomUUID()}`;
    await store(account, "b");
    const accountMac = pseudonymizer.restrictedAccountOf(account);
    const order = { purpose: undefined, article: 18, approver: "J. Doe", requestId: undefined } as const;
    const at = new Date(clock.now()).toISOString();
    await inOwnerTransaction(administration, (owner) =>
      placeRestriction(owner, { ...order, account, accountMac, reason: "disputed", actor: "test" }, at),
    );
    const client = await listener.client(["investigator"]);
    const { rejections } = await client.call("listRecentRejections", {});
    expect(rejections.map((row) => row.account)).toEqual(["b"]);
    expect((await client.call("listRecentRejections", { account })).rejections).toEqual([]);
    const ofNobody = await client.call("listRecentRejections", { account: "nobody", limit: 1 });
    expect(await client.call("listRecentRejections", { account, limit: 1 }), "as of no account").toEqual(ofNobody);
  });

  it("shows a problem of another release without a status", async () => {
    await scene.owner.query(
      `insert into recent_rejection (at, problem, violations, places, more)
        values (transaction_time(), 'of-the-future', '{new-rule}', '{/platform}', false)`,
    );
    const client = await listener.client(["analyst"]);
    expect((await client.call("listRecentRejections", {})).rejections).toMatchObject([
      { status: null, problem: "of-the-future", rules: [{ violation: "new-rule", place: "/platform" }] },
    ]);
  });
});
