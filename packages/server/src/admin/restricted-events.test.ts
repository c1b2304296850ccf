import { afterAll, beforeAll, expect, it } from "vitest";
import { type Role, ROLE_NAMES, scopeOf } from "@device-risk-signals/admin-api";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { placeRestriction } from "../lifecycle/restrictions/restrictions.ts";
import { inOwnerTransaction } from "../postgres/database.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
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

it("no role opens a restricted event, not even together with privacy", async () => {
  const client = await listener.client(["investigator", "privacy"]);
  const read = { event_id: event.eventId, reason: "dispute 4711", category: "dispute" } as const;
  await expect(client.call("readExactEvent", read)).rejects.toMatchObject({ code: "not-found" });
  await expect(client.call("readObservations", read)).rejects.toMatchObject({ code: "not-found" });
});
