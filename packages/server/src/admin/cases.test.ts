import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AdminClient } from "@device-risk-signals/admin-api";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { erasurePorts } from "../app/system.ts";
import { listAudit } from "../audit/audit.ts";
import { runRetention } from "../lifecycle/retention-worker.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const folder = useFolder();
const scene = useTestSystem("file", () => ({
  DRS_REASON_MIN_LENGTH: "8",
  DRS_ERASURE_JOURNAL: join(folder(), "journal"),
}));
const listener = useAdminListener(() => scene.system);
let past: Past;
let event: PastEvent;
let client: AdminClient;

beforeAll(async () => {
  past = new Past(scene.system);
  event = await past.store(0, { account: "customer-1" });
  client = await listener.client(["investigator"], { person: "investigator-1" });
});
afterAll(() => past?.close());

const WHY = { reason: "dispute 4711", category: "dispute" } as const;
const read = (case_id: string, of: AdminClient = client) =>
  of.call("readExactEvent", { event_id: event.eventId, case_id });

describe("a case", () => {
  it("opens the events of its account, and counts them", async () => {
    const { case_id } = await client.call("openCase", { account: "customer-1", ...WHY });
    await read(case_id);
    await read(case_id);
    const { cases } = await client.call("listCases", { open: true });
    expect(cases.find((one) => one.case_id === case_id)?.events_opened).toBe(2);
  });

  it("opens nothing that it does not cover", async () => {
    const other = await client.call("openCase", { account: "customer-2", ...WHY });
    await expect(read(other.case_id)).rejects.toMatchObject({ code: "case-invalid" });
    const ofAction = (account: string, action_id = event.actionId) =>
      client.call("openCase", { account, action_id, ...WHY });
    for (const wrong of [await ofAction("customer-2"), await ofAction("customer-1", "another")]) {
      await expect(read(wrong.case_id)).rejects.toMatchObject({ code: "case-invalid" });
    }
    const action = await ofAction("customer-1");
    expect(action).toMatchObject({ scope: "action", subject: event.actionId, account: "customer-1" });
    expect((await read(action.case_id)).byteLength).toBeGreaterThan(0);
  });

  it("that covers one of two events compares nothing, and opens neither", async () => {
    const { case_id } = await client.call("openCase", { event_id: event.eventId, ...WHY });
    const other = await past.store(0, { account: "customer-2" });
    const compared = client.call("compareEvents", {
      event_id: event.eventId,
      other_event_id: other.eventId,
      case_id,
    });
    await expect(compared).rejects.toMatchObject({ code: "case-invalid" });
    const entries = await listAudit(scene.system.pool, async () => scene.system.secrets, {
      eventId: other.eventId,
      limit: 10,
    });
    expect(entries.map(({ operation, outcome }) => `${operation} ${outcome}`)).toEqual([
      "event.compare denied",
      "event.create accepted",
    ]);
    expect((await client.call("listCases", { open: true })).cases[0]).toMatchObject({ case_id, events_opened: 0 });
  });

  it("of another person is not shown by a cursor of that person, which may be replayed", async () => {
    const [owner, other] = await Promise.all(
      ["pager-1", "pager-2"].map((person) => listener.client(["investigator"], { person })),
    );
    for (const account of ["a", "b", "c"]) await owner?.call("openCase", { account, ...WHY });
    const first = await owner?.call("listCases", { limit: 1 });
    const after = first?.next ?? "";
    const again = { limit: 1, after };
    expect(await owner?.call("listCases", again)).toEqual(await owner?.call("listCases", again));
    expect(await other?.call("listCases", again)).toEqual({ cases: [], next: null });
  });

  it("is reviewed by its person, and all cases by an auditor: reads, repeated reasons, cases without a read", async () => {
    const person = "reviewed-1";
    const reader = await listener.client(["investigator"], { person });
    const why = { category: "legal-order", reason: "order 17 of the court", ticket: "T-17" } as const;
    const used = await reader.call("openCase", { account: "customer-1", ...why });
    const unused = await reader.call("openCase", { account: "customer-1", ...why });
    await read(used.case_id, reader);
    await read(used.case_id, reader);
    const auditor = await listener.client(["auditor"]);
    const all = await auditor.call("reviewReads", {});
    const own = await reader.call("reviewReads", {});
    const counted = { person, via: "api", operation: "event.read_raw", category: why.category, ticket: why.ticket };
    expect(own.reads).toEqual([{ ...counted, entries: 2, accounts: 1 }]);
    expect(own.repeated_reasons).toEqual([{ person, reason: why.reason, cases: 2 }]);
    expect(own.unused_cases).toMatchObject([{ case_id: unused.case_id, person }]);
    expect(all.reads).toEqual(expect.arrayContaining(own.reads));
    expect(new Set(all.reads.map(({ person: of }) => of)).size).toBeGreaterThan(1);
    const later = await auditor.call("reviewReads", { since: "2999-01-31T00:00:00Z" });
    expect(later).toMatchObject({ reads: [], repeated_reasons: [], unused_cases: [] });
    const entries = await listAudit(scene.system.pool, async () => scene.system.secrets, { person, limit: 1 });
    expect(entries).toMatchObject([{ operation: "audit.review_reads" }]);
  });

  it("of another person opens nothing", async () => {
    const { case_id } = await client.call("openCase", { account: "customer-1", ...WHY });
    const other = await listener.client(["investigator"], { person: "investigator-2" });
    await expect(read(case_id, other)).rejects.toMatchObject({ code: "case-invalid" });
    await expect(other.call("closeCase", { case_id })).rejects.toMatchObject({ code: "not-found" });
    expect((await other.call("listCases", {})).cases).toEqual([]);
  });

  it("that is closed opens nothing", async () => {
    const { case_id } = await client.call("openCase", { account: "customer-1", ...WHY });
    await client.call("closeCase", { case_id });
    await expect(read(case_id)).rejects.toMatchObject({ code: "case-invalid" });
  });

  it("that has expired opens nothing", async () => {
    const { case_id } = await client.call("openCase", { account: "customer-1", ...WHY });
    await scene.owner.query(
      "update drs.access_case set expires_at = drs.transaction_time() - interval '1 second' where case_id = $1",
      [case_id],
    );
    await expect(read(case_id)).rejects.toMatchObject({ code: "case-invalid" });
  });

  it("of an event is audited under the account of the event", async () => {
    const { case_id } = await client.call("openCase", { event_id: event.eventId, ...WHY });
    const { pool, secrets, audit } = scene.system;
    const account = audit.named("customer-1");
    const entries = await listAudit(pool, () => secrets, { account, limit: 10 });
    expect(entries.filter(({ operation }) => operation === "case.open").map((entry) => entry.case_id)).toContain(
      case_id,
    );
  });

  it.each([
    ["no reason", { case_id: undefined }],
    ["a reason of blanks", { reason: "            ", category: "dispute" as const }],
    ["a reason of one letter", { reason: "aaaaaaaaaaaa", category: "dispute" as const }],
  ])("is not opened with %s", async (_, why) => {
    const request = client.call("readExactEvent", { event_id: event.eventId, ...why } as never);
    await expect(request).rejects.toMatchObject({ code: "request-invalid" });
  });

  it("covers one thing", async () => {
    for (const wrong of [{}, { action_id: "b" }, { account: "a", event_id: event.eventId }]) {
      const opened = client.call("openCase", { ...wrong, ...WHY });
      await expect(opened).rejects.toMatchObject({ code: "request-invalid" });
    }
  });
});

describe("cases", () => {
  const left = async (): Promise<unknown[]> =>
    (await scene.owner.query("select case_id from drs.access_case order by case_id")).rows;

  it("are deleted by the erasure of their account, also those of its events", async () => {
    const one = await past.store(0, { account: "erased-1" });
    const { case_id: kept } = await client.call("openCase", { account: "customer-1", ...WHY });
    const before = await left();
    expect(before).toContainEqual({ case_id: kept });
    await client.call("openCase", { account: "erased-1", ...WHY });
    await client.call("openCase", { account: "erased-1", action_id: one.actionId, ...WHY });
    await client.call("openCase", { event_id: one.eventId, ...WHY });
    await client.call("readExactEvent", { event_id: one.eventId, ...WHY });
    const privacy = await listener.client(["privacy"]);
    await privacy.call("runErasure", { account: "erased-1", reason: "request 4711" });
    expect(await left()).toEqual(before);
  });

  it("are deleted by a retention pass when they ended longer ago than reasons are kept, not earlier", async () => {
    const open = async (): Promise<string> =>
      (await client.call("openCase", { account: "customer-1", ...WHY })).case_id;
    const [kept, closed, expired] = [await open(), await open(), await open()];
    await scene.owner.query(
      "update drs.access_case set closed_at = drs.transaction_time() - interval '20 days 1 hour' where case_id = $1",
      [closed],
    );
    await scene.owner.query(
      "update drs.access_case set expires_at = drs.transaction_time() - interval '20 days 1 hour' where case_id = $1",
      [expired],
    );
    const pass = await runRetention({
      ...erasurePorts(scene.system),
      database: scene.system.database,
      auditReasonRetention: 20 * 86_400_000,
      actor: "test",
    });
    expect(pass?.failed).toEqual([]);
    expect(await left()).toContainEqual({ case_id: kept });
    for (const case_id of [closed, expired]) expect(await left()).not.toContainEqual({ case_id });
  });
});
