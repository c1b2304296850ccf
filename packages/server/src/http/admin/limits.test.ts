/** Tests that one person can't export or remove much in small pieces. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdminClient, type AdminRequestError, createAdminClient } from "@device-risk-signals/admin-api";
import { runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import { Past } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { listAudit } from "../../audit/audit.ts";
import { LOCKS } from "../../store/postgres/locks.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const folder = useFolder();
const scene = useTestSystem("file", () => ({
  DRS_ERASURE_JOURNAL: join(folder(), "journal"),
  DRS_EXPORTED_ACCOUNTS_LIMIT: "2",
  DRS_APPROVAL_EVENTS: "3",
}));
const listener = useAdminListener(() => scene.system);
let past: Past;

beforeAll(() => {
  past = new Past(scene.system);
});
afterAll(() => past?.close());

/** A client of a person with the role privacy who has just signed in. */
async function signedIn(person: string): Promise<AdminClient> {
  const { adminSessions, pool, clock } = scene.system;
  const { secret } = await adminSessions.start(pool, clock, "login", {
    person,
    identity: "0".repeat(64),
    roles: ["privacy"],
    grants: [],
    authenticatedAt: new Date(clock.now()).toISOString(),
  });
  return createAdminClient({ url: listener.url, token: secret });
}

const approve = (approvalId: string): Promise<boolean> =>
  scene.system.approvals.decide(scene.system.pool, scene.system.clock, {
    approvalId,
    person: "operator-1",
    roles: ["operator"],
    decision: "approved",
  });

/** @returns the id of the approval without which the call was refused; `undefined` if it was not refused. */
async function approvalFor(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown as AdminRequestError,
  );
  if (!error) return undefined;
  expect(error).toMatchObject({ problem: { code: "approval-needed" } });
  const id = error.problem?.approval_id ?? "";
  expect(error.message).toContain(`Approval ${id} by operator or privacy`);
  return id;
}

const accountWith = async (events: number): Promise<string> => {
  const account = `account-${randomUUID()}`;
  for (let left = events; left > 0; left--) await past.store(0, { account });
  return account;
};

const entriesOf = (person: string, operation: string) =>
  listAudit(scene.system.pool, () => scene.system.secrets, { person, limit: 100 }).then((entries) =>
    entries.filter((entry) => entry.operation === operation),
  );

describe("exports of accounts", () => {
  async function exporting(client: AdminClient, account: string): Promise<() => Promise<void>> {
    const { request } = await client.call("addRequest", { account, kind: "access" });
    return async () => {
      const parts = await client.call("exportAccount", {
        account,
        reason: "request 17",
        request_id: request.request_id,
      });
      for await (const part of parts) void part;
    };
  }

  it("beyond the limit of a day need an approval, also in parallel and by several sessions of a person", async () => {
    const clients = [await signedIn("exporter-1"), await signedIn("exporter-1")] as const;
    const exports = await Promise.all(
      [0, 1, 2, 3, 4].map(async (index) => exporting(clients[index % 2 === 0 ? 0 : 1], await accountWith(1))),
    );
    const approvals = await Promise.all(exports.map((run) => approvalFor(run())));
    const refused = approvals.flatMap((id, index) => (id === undefined ? [] : [{ id, run: exports[index] }]));
    expect(refused).toHaveLength(3);
    expect(await entriesOf("exporter-1", "account.export")).toHaveLength(2);
    for (const [index, run] of exports.entries()) if (approvals[index] === undefined) await run();
    const [{ id, run } = { id: "", run: undefined }, other] = refused;
    expect(await approve(id)).toBe(true);
    await run?.();
    expect((await entriesOf("exporter-1", "account.export"))[0]).toMatchObject({ approval_id: id });
    expect(await approvalFor(other?.run?.() ?? Promise.resolve())).toBe(other?.id);
    const own = await exporting(await signedIn("exporter-2"), await accountWith(1));
    expect(await approvalFor(own()), "by another person").toBeUndefined();
  });

  it("by an admin token always need an approval", async () => {
    const run = await exporting(await listener.client(["privacy"], { person: "machine" }), await accountWith(1));
    const id = await approvalFor(run());
    expect(id).toMatch(/^[\da-f-]{36}$/);
    expect(await approve(id ?? "")).toBe(true);
    await run();
    expect(await approvalFor(run()), "used once").not.toBe(id);
  });
});

describe("the events that a person removes in a day", () => {
  const erasing = (client: AdminClient, account: string) => () =>
    client.call("runErasure", { account, reason: "request 17" });

  it("are added up over erasures, also over parallel ones, and what was approved does not count", async () => {
    const client = await signedIn("eraser-1");
    const erasures = (await Promise.all([2, 2, 2].map((events) => accountWith(events)))).map((account) =>
      erasing(client, account),
    );
    const approvals = await Promise.all(erasures.map((run) => run().then(() => "done", String)));
    expect(approvals.filter((end) => end === "done")).toHaveLength(1);
    const run = erasures[approvals.findIndex((end) => end !== "done")];
    const id = (await approvalFor(run?.() ?? Promise.resolve())) ?? "";
    expect(await approve(id)).toBe(true);
    await run?.();
    expect(await approvalFor(erasing(client, await accountWith(1))())).toBeUndefined();
    expect(await approvalFor(erasing(client, await accountWith(1))())).toBeDefined();
    expect(await approvalFor(erasing(await signedIn("eraser-2"), await accountWith(3))())).toBeUndefined();
    expect((await entriesOf("eraser-1", "approval.exempt")).map(({ detail }) => detail)).toMatchObject([
      { of: "erase.run", events: "1" },
      { of: "erase.run", events: "2" },
    ]);
  });

  it("are counted while no other operation of the person is under way", async () => {
    const client = await signedIn("waiter-1");
    const account = await accountWith(1);
    await scene.owner.query("begin");
    await scene.owner.query("select pg_advisory_xact_lock($1::int4, hashtext('waiter-1'))", [LOCKS.removedEvents]);
    const erased = erasing(client, account)();
    await until(async () => {
      const { rows } = await scene.owner.query(
        "select from pg_locks where locktype = 'advisory' and not granted and classid = $1::int4::oid",
        [LOCKS.removedEvents],
      );
      return rows.length === 1;
    }, 10_000);
    await scene.owner.query("commit");
    await erased;
  });

  it("count an erasure without events as one event, because it may refuse the account", async () => {
    const client = await signedIn("refuser-1");
    const refuse = () => {
      const input = { account: `account-${randomUUID()}`, refuse_later: true, unknown: true, reason: "request 17" };
      return approvalFor(client.call("runErasure", input));
    };
    for (let left = 3; left > 0; left--) expect(await refuse()).toBeUndefined();
    expect(await refuse()).toBeDefined();
  });

  it("include the events of lifted holds, which need an approval beyond the limit", async () => {
    const client = await signedIn("lifter-1");
    const holding = async (events: number): Promise<string> => {
      const account = await accountWith(events);
      const hold = { account, reason: "dispute 17", approver: "J. Doe", review_on: "2999-01-31" };
      const { hold_id } = await client.call("addHold", hold);
      await (await signedIn("eraser-of-held")).call("runErasure", { account, reason: "request 17" });
      return hold_id;
    };
    const lift = (hold_id: string) => client.call("liftHold", { hold_id, reason: "the dispute is closed" });
    const [small, large] = [await holding(1), await holding(2)];
    expect(await lift(small)).toMatchObject({ events_released: 1 });
    expect(await approvalFor(erasing(client, await accountWith(1))())).toBeUndefined();
    const id = (await approvalFor(lift(large))) ?? "";
    expect(await approve(id)).toBe(true);
    expect(await lift(large)).toMatchObject({ events_released: 2 });
  });

  it("include the events that a new policy lets expire earlier", async () => {
    const policyWith = (raw_retention: string): string => {
      const texts = { title: "t", legal_basis: "l", owner: "o", derived_retention: "P1Y" };
      const kept = { id: "default", ...texts, raw_retention: "P5D" };
      const purposes = [kept, { id: "small", ...texts, raw_retention }];
      return JSON.stringify({ purposes, actions: {}, unmapped: "default" });
    };
    const file = join(folder(), "purposes.json");
    await writeFile(file, policyWith("P30D"));
    expect(await runWithBreakGlass(scene.environment, "purpose", "apply", file, "--yes")).toMatchObject({
      code: 0,
      stderr: "",
    });
    const { rows } = await scene.owner.query<{ code: number }>("select code from purpose where id = 'small'");
    for (let left = 2; left > 0; left--) await past.store(0, { purpose: rows[0]?.code ?? 0 });
    const client = await signedIn("purposer-1");
    const apply = (period: string) => client.call("applyPolicy", { policy: policyWith(period) });
    expect(await approvalFor(apply("P20D"))).toBeUndefined();
    expect(await approvalFor(erasing(client, await accountWith(2))())).toBeDefined();
    expect(await approvalFor(erasing(client, await accountWith(1))())).toBeUndefined();
    expect(await approvalFor(apply("P10D"))).toBeDefined();
  });
});
