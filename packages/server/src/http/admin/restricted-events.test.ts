import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdminRequestError, type Role, ROLE_NAMES, scopeOf } from "@device-risk-signals/admin-api";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { placeRestriction } from "../../lifecycle/restrictions/restriction-table.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const folder = useFolder();
const scene = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const listener = useAdminListener(() => scene.system);
const account = "restricted";
let past: Past;
let event: PastEvent;

beforeAll(async () => {
  const { administration, clock, pseudonymizer } = scene.system;
  past = new Past(scene.system);
  event = await past.store(0, { account });
  const accountMac = pseudonymizer.restrictedAccountOf(account);
  const order = { purpose: undefined, article: 18, approver: "J. Doe", requestId: undefined } as const;
  const restriction = { ...order, account, accountMac, reason: "disputed", actor: "test" };
  const at = new Date(clock.now()).toISOString();
  await inOwnerTransaction(
    administration,
    (owner) => placeRestriction(owner, restriction, at),
    () => "commit",
  );
});
afterAll(() => past?.close());

const READERS: readonly Role[] = ROLE_NAMES.filter((role) => scopeOf("events.list", [role]) !== undefined);

it.each(READERS.filter((role) => role !== "privacy"))("the role %s finds no restricted event", async (role) => {
  const client = await listener.client([role]);
  if (role !== "operator") expect((await client.call("listEvents", { account })).events).toEqual([]);
  expect((await client.call("listEvents", { platform: "android" })).events).toEqual([]);
  await expect(client.call("readEvent", { event_id: event.eventId })).rejects.toMatchObject({ code: "not-found" });
  if (role === "operator") return;
  const key = { account, idempotency_key: event.idempotencyKey };
  expect((await client.call("listEvents", key)).events).toEqual([]);
  await expect(client.call("readTimeline", key)).rejects.toMatchObject({ code: "not-found" });
});

it("the role privacy finds a restricted event, marked as restricted", async () => {
  const client = await listener.client(["privacy"]);
  expect((await client.call("listEvents", { account })).events).toMatchObject([
    { event_id: event.eventId, restricted: true },
  ]);
  expect(await client.call("readEvent", { event_id: event.eventId })).toMatchObject({ restricted: true });
  const key = { account, idempotency_key: event.idempotencyKey };
  expect(await client.call("readTimeline", key)).toMatchObject({ event_id: event.eventId });
  expect((await client.call("listEvents", key)).events).toMatchObject([{ event_id: event.eventId }]);
});

it.each(["analyst", "investigator"] as const)(
  "the entry of a case that the role %s opens does not say whose event it is, or that it exists",
  async (role) => {
    const client = await listener.client([role], { person: `asker-${role}` });
    const why = { category: "dispute", reason: "dispute 4711" } as const;
    const openAndClose = async (event_id: string) => {
      const { case_id } = await client.call("openCase", { ...why, event_id });
      await client.call("closeCase", { case_id });
      const { entries } = await client.call("listAudit", { event_id });
      return entries.map(({ operation, outcome, account: shown, reason }) => ({ operation, outcome, shown, reason }));
    };
    const ofNone = await openAndClose("019a0000-0000-7000-8000-000000000000");
    expect(ofNone).toMatchObject([
      { operation: "case.close", shown: null },
      { operation: "case.open", shown: null },
    ]);
    expect(await openAndClose(event.eventId)).toEqual(ofNone);
    expect((await client.call("listAudit", { account })).entries).toEqual([]);
    const auditor = await listener.client(["auditor"]);
    const { entries } = await auditor.call("listAudit", { account });
    expect(entries).toContainEqual(
      expect.objectContaining({ operation: "case.open", event_id: event.eventId, account }),
    );
  },
);

describe("a hold that an investigator proposes", () => {
  const order = { reason: "order 17 of the court", approver: "J. Doe", review_on: "2999-01-31" };
  type Subject = Partial<Record<"account" | "action_id" | "event_id", string>>;
  /** The answer, or the problem without the id of the approval that it names. */
  const outcomeOf = (call: Promise<object>): Promise<unknown> =>
    call.then(
      (answer) => ({ ...answer, hold_id: undefined }),
      ({ problem, message }: AdminRequestError) => [problem?.code, message.replace(UUIDS, "ID")],
    );
  const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

  /** What a person learns of a subject by a dry run, a proposal, the hold after an approval, and the audit entries. */
  async function learnt(subject: Subject) {
    const person = `proposer-${randomUUID()}`;
    const client = await listener.client(["investigator"], { person });
    const { approvals, pool, clock } = scene.system;
    const tried = await outcomeOf(client.call("addHold", { ...order, ...subject, dry_run: true }));
    const proposed = await outcomeOf(client.call("addHold", { ...order, ...subject }));
    const asked = (await client.call("listApprovals", {})).approvals;
    for (const { approval_id: approvalId } of asked) {
      await approvals.decide(pool, clock, { approvalId, person: "p", roles: ["privacy"], decision: "approved" });
    }
    const placed = await outcomeOf(client.call("addHold", { ...order, ...subject }));
    const { entries } = await client.call("listAudit", {});
    const audited = entries.map(({ operation, outcome, event_id, detail }) => [
      operation,
      outcome,
      event_id === null ? null : "event",
      JSON.stringify(detail)?.replace(UUIDS, "ID"),
    ]);
    return { tried, proposed, plans: asked.map(({ plan }) => plan), placed, audited };
  }

  it("learns of a restricted event no more than of an event that does not exist", async () => {
    const none = "019a0000-0000-7000-8000-000000000000";
    const ofNone = await learnt({ event_id: none });
    expect(ofNone.tried).toEqual(["not-found", expect.stringContaining("Nothing is known")]);
    expect(await learnt({ event_id: event.eventId })).toEqual(ofNone);
    expect(await learnt({ action_id: event.actionId })).toEqual(await learnt({ action_id: randomUUID() }));
  });

  it("learns of a restricted account no more than of an account without events", async () => {
    const operator = await listener.client(["operator"]);
    await operator.call("issueToken", { account: "without-events", ttl_ms: 60_000 });
    const ofNone = await learnt({ account: "without-events" });
    expect(ofNone).toMatchObject({ tried: { events: 0 }, plans: [{ events: 0 }], placed: { events: 0 } });
    expect(await learnt({ account })).toEqual(ofNone);
    const privacy = await listener.client(["privacy"]);
    expect(await privacy.call("addHold", { ...order, account, dry_run: true })).toMatchObject({ events: 1 });
  });

  it("learns by a dry run of no erased event that waits for its deletion", async () => {
    const [erased, other] = [await past.store(0, { account: "waits" }), await past.store(0, { account: "visible" })];
    await past.store(0, { account: "waits" });
    const privacy = await listener.client(["privacy"]);
    const { hold_id } = await privacy.call("addHold", { ...order, event_id: erased.eventId });
    await privacy.call("runErasure", { event_id: erased.eventId, reason: "request 17" });
    await privacy.call("liftHold", { hold_id, reason: "order 17 has ended" });
    const client = await listener.client(["investigator"]);
    const tryOn = (subject: Subject, by = client) =>
      outcomeOf(by.call("addHold", { ...order, ...subject, dry_run: true }));
    expect(await tryOn({ account: "waits" }, privacy)).toEqual(["erasure-pending", expect.any(String)]);
    expect(await tryOn({ account: "waits" })).toEqual(await tryOn({ account: other.account }));
    expect(await tryOn({ event_id: erased.eventId })).toMatchObject(["not-found", expect.any(String)]);
  });
});

it("no role opens a restricted event, not even together with privacy", async () => {
  const client = await listener.client(["investigator", "privacy"]);
  const read = { event_id: event.eventId, reason: "dispute 4711", category: "dispute" } as const;
  await expect(client.call("readExactEvent", read)).rejects.toMatchObject({ code: "not-found" });
  await expect(client.call("readObservations", read)).rejects.toMatchObject({ code: "not-found" });
});

it("no request includes restricted events, as a command on the database can", async () => {
  const token = await listener.token(["investigator", "privacy"]);
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const why = { reason: "a legal claim", category: "dispute", include_restricted: true, includeRestricted: true };
  for (const path of ["exact", "observations"]) {
    const url = new URL(`/admin/v1/events/${event.eventId}/${path}`, listener.url);
    expect((await fetch(url, { method: "POST", headers, body: JSON.stringify(why) })).status, path).toBe(400);
  }
  const list = new URL("/admin/v1/events?include_restricted=true", listener.url);
  expect((await fetch(list, { headers })).status).toBe(400);
});
