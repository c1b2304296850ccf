import { createSecretKey } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdminClient, type AdminRequestError, createAdminClient } from "@device-risk-signals/admin-api";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { checkpointNow } from "../../runtime/audit-log.ts";
import { erasurePorts } from "../../runtime/lifecycle-ports.ts";
import { listAudit } from "../../audit/audit.ts";
import { insertEntries } from "../../audit/entries.ts";
import { signOutsideLane } from "../../store/audit-record/lane.ts";
import { uuidv7 } from "../../base/identifiers/uuidv7.ts";
import { listHolds } from "../../lifecycle/holds/hold-table.ts";
import { runRetention } from "../../lifecycle/retention-worker.ts";
import { type TokenOptions, useAdminListener } from "./admin-scene.fixture.ts";

const folder = useFolder();
const scene = useTestSystem("file", () => ({
  DRS_REASON_MIN_LENGTH: "8",
  DRS_ERASURE_JOURNAL: join(folder(), "journal"),
  DRS_OPENED_EVENTS_LIMIT: "3",
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
const read = (case_id: string, opener: AdminClient = client) =>
  opener.call("readExactEvent", { event_id: event.eventId, case_id });

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

  it("that covers only one of two events allows no comparison of them, and opens neither", async () => {
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

  it("of another person is not listed, even for a cursor that this person got", async () => {
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

  it("is in the review of its person and in the auditor's review of all cases: reads, repeated reasons, cases without a read", async () => {
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
    expect(own.reads).toEqual([{ ...counted, entries: 2, events: 2, accounts: 1, unchecked: 2 }]);
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

  it("that a login of the database inserted opens nothing before its `opened_at`, and can't last longer than 8 hours", async () => {
    const insert = async (opens: string, expires: string): Promise<string> => {
      const { rows } = await scene.owner.query(
        `insert into drs.access_case (case_id, category, reason, scope, account, opened_by, opened_at, expires_at)
          values (gen_random_uuid(), 'dispute', 'dispute 4711', 'account', 'customer-1', 'investigator-1',
            date_trunc('milliseconds', drs.transaction_time()) + $1::interval,
            date_trunc('milliseconds', drs.transaction_time()) + $2::interval) returning case_id`,
        [opens, expires],
      );
      return (rows as readonly { readonly case_id: string }[])[0]?.case_id ?? "";
    };
    await read(await insert("0", "8 hours"));
    await expect(read(await insert("1 hour", "9 hours"))).rejects.toMatchObject({ code: "case-invalid" });
    await expect(insert("0", "8 hours 1 second")).rejects.toMatchObject({ code: "23514" });
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

  it("covers exactly one account, action or event", async () => {
    for (const wrong of [{}, { action_id: "b" }, { account: "a", event_id: event.eventId }]) {
      const opened = client.call("openCase", { ...wrong, ...WHY });
      await expect(opened).rejects.toMatchObject({ code: "request-invalid" });
    }
  });
});

/** Expects the call to fail because it needs an approval by privacy. @returns the approval's id. */
async function approvalNeededBy(call: Promise<unknown>): Promise<string> {
  const error = (await call.catch((thrown: unknown) => thrown)) as AdminRequestError;
  expect(error).toMatchObject({ code: "state-conflict", problem: { code: "approval-needed" } });
  return /Approval (\S+) by privacy/.exec(error.message)?.[1] ?? "";
}

const decide = (approvalId: string, person = "privacy-1"): Promise<boolean> =>
  scene.system.approvals.decide(scene.system.pool, scene.system.clock, {
    approvalId,
    person,
    roles: ["privacy"],
    decision: "approved",
  });

describe("what a role may do with an approval", () => {
  it("waits for privacy, once: a hold that an investigator proposes", async () => {
    const { clock, pool } = scene.system;
    const hold = {
      event_id: event.eventId,
      reason: "order 17 of the court",
      approver: "J. Doe",
      review_on: "2999-01-31",
    };
    const listed = async () => (await listHolds(pool)).filter(({ reason }) => reason === hold.reason);
    const approvalId = await approvalNeededBy(client.call("addHold", hold));
    expect(await scene.system.approvals.find(pool, clock, approvalId)).toMatchObject({
      operation: "hold.add",
      plan: { events: 1 },
      requested_by: "investigator-1",
      parameters: { of: "event_id", approver: "J. Doe" },
    });
    expect(await listed()).toEqual([]);
    expect(await decide(approvalId, "investigator-1")).toBe(false);
    expect(await decide(approvalId)).toBe(true);
    await approvalNeededBy(client.call("addHold", { ...hold, review_on: "2999-02-28" }));
    expect(await client.call("readApproval", { approval_id: approvalId })).toMatchObject({ state: "approved" });
    const { hold_id } = await client.call("addHold", hold);
    expect(await listed()).toMatchObject([{ hold_id }]);
    await approvalNeededBy(client.call("addHold", hold));
    await expect(client.call("liftHold", { hold_id, reason: hold.reason })).rejects.toMatchObject({
      code: "permission-missing",
    });
    const privacy = await listener.client(["privacy"]);
    await privacy.call("liftHold", { hold_id, reason: hold.reason });
  });

  it("allows nothing if a login of the database wrote its decision, and the error names it", async () => {
    const { clock, pool, approvals } = scene.system;
    const before = await approvals.countChanged(pool, clock);
    const operator = await listener.client(["operator"]);
    const wanted = { person: "thief", roles: ["privacy" as const], ttl_ms: 60_000 };
    const approvalId = await approvalNeededBy(operator.call("issueAdminToken", wanted));
    await scene.owner.query("set role drs_admin");
    await scene.owner.query(
      `insert into approval_decision (approval_id, person, role, decision, decided_at, mac)
        select approval_id, 'petra', 'privacy', 'approved', transaction_time(), mac from approval where approval_id = $1`,
      [approvalId],
    );
    await scene.owner.query("reset role");
    const refused = operator.call("issueAdminToken", wanted);
    await expect(refused).rejects.toThrow(`Approval ${approvalId} allows nothing: a login of the database`);
    expect(await operator.call("readApproval", { approval_id: approvalId })).toMatchObject({ state: "changed" });
    const { secrets } = scene.system;
    const entries = await listAudit(pool, () => secrets, { person: "person-operator", limit: 10 });
    expect(entries).toContainEqual(
      expect.objectContaining({ operation: "approval.use", outcome: "changed", approval_id: approvalId }),
    );
    expect(await approvals.countChanged(pool, clock)).toBe(before + 1);
    const { findings } = await operator.call("readHealth", {});
    expect(findings).toContainEqual(expect.objectContaining({ what: "approvals", ok: false }));
  });

  it("waits for privacy: an admin token that an operator proposes, with these roles", async () => {
    const operator = await listener.client(["operator"]);
    const wanted = { person: "j.doe", roles: ["auditor" as const], ttl_ms: 60_000 };
    const approvalId = await approvalNeededBy(operator.call("issueAdminToken", wanted));
    expect(await decide(approvalId, "person-operator")).toBe(false);
    expect(await decide(approvalId)).toBe(true);
    await approvalNeededBy(operator.call("issueAdminToken", { ...wanted, roles: ["auditor", "privacy"] }));
    const { token, ...issued } = await operator.call("issueAdminToken", wanted);
    expect(issued).toMatchObject({ person: "j.doe", roles: ["auditor"] });
    const session = await createAdminClient({ url: listener.url, token }).call("readSession", {});
    expect(session).toMatchObject({ person: "j.doe", roles: ["auditor"] });
    const { secrets } = scene.system;
    const entries = await listAudit(scene.system.pool, () => secrets, { person: "person-operator", limit: 5 });
    expect(entries[0]).toMatchObject({ operation: "admin-token.issue", approval_id: approvalId });
    expect(JSON.stringify(entries)).not.toContain(token);
    const { tokens } = await operator.call("listAdminTokens", {});
    expect(tokens[0]).toMatchObject({ person: "j.doe", obtained_by: "person-operator" });
  });
});

it("an investigator reads only their own approvals", async () => {
  const other = await listener.client(["investigator"], { person: "investigator-2" });
  const hold = { event_id: event.eventId, reason: "order 20", approver: "J. Doe", review_on: "2999-01-31" };
  const approval_id = await approvalNeededBy(other.call("addHold", hold));
  expect((await other.call("listApprovals", {})).approvals).toMatchObject([{ approval_id }]);
  const { approvals } = await client.call("listApprovals", {});
  expect(approvals.filter(({ requested_by }) => requested_by !== "investigator-1")).toEqual([]);
  await expect(client.call("readApproval", { approval_id })).rejects.toMatchObject({ code: "not-found" });
});

it("a person has at most 20 approvals that wait, and withdraws one to ask for another", async () => {
  const asker = await listener.client(["investigator"], { person: "investigator-3" });
  const hold = { event_id: event.eventId, approver: "J. Doe", review_on: "2999-01-31" };
  const ask = (number: number) =>
    asker.call("addHold", { ...hold, reason: `order ${number} of the court`, approver: `A ${number}` });
  const ids: string[] = [];
  for (let number = 0; number < 18; number++) ids.push(await approvalNeededBy(ask(number)));
  const parallel = [18, 19, 20, 21, 22, 23].map((number) => approvalNeededBy(ask(number)).catch(() => undefined));
  ids.push(...(await Promise.all(parallel)).filter((id) => id !== undefined));
  expect(ids).toHaveLength(20);
  const refused = (await ask(30).catch((error: unknown) => error)) as AdminRequestError;
  expect(refused).toMatchObject({ code: "state-conflict", problem: { code: "state-conflict" } });
  for (const id of ids) expect(refused.message).toContain(`${id} (hold.add)`);
  expect(refused.message).toContain("drs approval withdraw");
  expect(await approvalNeededBy(ask(7)), "the same request").toBe(ids[7]);
  await approvalNeededBy(client.call("addHold", { ...hold, reason: "order 22 of the court" }));

  const approval_id = ids[3] ?? "";
  for (const role of ["privacy", "operator"] as const) {
    const other = await listener.client([role]);
    await expect(other.call("withdrawApproval", { approval_id })).rejects.toMatchObject({ code: "state-conflict" });
  }
  await expect(client.call("withdrawApproval", { approval_id })).rejects.toMatchObject({ code: "not-found" });
  const withdrawn = { state: "denied", denied_by: "investigator-3" };
  expect(await asker.call("withdrawApproval", { approval_id })).toMatchObject(withdrawn);
  expect(await decide(approval_id)).toBe(false);
  await expect(asker.call("withdrawApproval", { approval_id })).rejects.toMatchObject({ code: "state-conflict" });
  const { entries } = await asker.call("listAudit", {});
  expect(entries.filter(({ operation }) => operation === "approval.withdraw")).toMatchObject([{ approval_id }]);
  await approvalNeededBy(ask(30));
});

it("the reason of an approval is shown to the person who asked, the roles that may approve, and the auditor", async () => {
  const asker = await listener.client(["investigator"], { person: "investigator-4" });
  const reason = "order 30 of the court";
  const hold = { event_id: event.eventId, reason, approver: "J. Doe", review_on: "2999-01-31" };
  const approval_id = await approvalNeededBy(asker.call("addHold", hold));
  const shownTo = async (reader: AdminClient) => {
    const { approvals } = await reader.call("listApprovals", { limit: 1_000 });
    const listed = approvals.find((one) => one.approval_id === approval_id);
    const read = await reader.call("readApproval", { approval_id });
    expect(read).toEqual(listed);
    return read.reason;
  };
  expect(await shownTo(asker)).toBe(reason);
  for (const role of ["privacy", "auditor"] as const) expect(await shownTo(await listener.client([role]))).toBe(reason);
  for (const role of ["operator", "analyst"] as const) expect(await shownTo(await listener.client([role]))).toBeNull();
});

it("a token that another person obtained asks for approvals in the name of both people, and obtains no further token", async () => {
  const options = { person: "machine", obtainedBy: "person-operator" };
  const machine = await listener.client(["operator", "investigator"], options);
  const further = { person: "other", roles: ["privacy" as const], ttl_ms: 60_000 };
  await expect(machine.call("issueAdminToken", further)).rejects.toMatchObject({ code: "permission-missing" });
  const hold = { event_id: event.eventId, reason: "order 19", approver: "J. Doe", review_on: "2999-01-31" };
  const approval_id = await approvalNeededBy(machine.call("addHold", hold));
  const asked = { requested_by: "machine", obtained_by: "person-operator" };
  expect(await machine.call("readApproval", { approval_id })).toMatchObject(asked);
  expect(await decide(approval_id, "person-operator")).toBe(false);
  expect(await decide(approval_id)).toBe(true);
  expect(await machine.call("addHold", hold)).toMatchObject({ hold_id: expect.any(String) as string });
});

it("a token does not use an approval by the person who obtained it, and asks for another one", async () => {
  const own = await listener.client(["investigator"], { person: "holder" });
  const token = await listener.client(["investigator"], { person: "holder", obtainedBy: "person-privacy" });
  const hold = { event_id: event.eventId, reason: "order 20", approver: "J. Doe", review_on: "2999-01-31" };
  const approval_id = await approvalNeededBy(own.call("addHold", hold));
  expect(await decide(approval_id, "person-privacy")).toBe(true);
  expect(await approvalNeededBy(token.call("addHold", hold))).not.toBe(approval_id);
  expect(await own.call("addHold", hold)).toMatchObject({ hold_id: expect.any(String) as string });
});

describe("a person who opens more events than the limit of a day", () => {
  const events: string[] = [];
  const [ACCOUNT, OTHER] = ["opened-1", "opened-2"];
  beforeAll(async () => {
    for (let left = 7; left > 0; left--) events.push((await past.store(0, { account: ACCOUNT })).eventId);
    events.push((await past.store(0, { account: OTHER })).eventId);
  });

  /** The client of a person, a case of this person, and a function that opens an event of `events` in a case. */
  async function openerOf(person: string, options: TokenOptions = { person }) {
    const opener = await listener.client(["investigator"], options);
    const { case_id } = await opener.call("openCase", { account: ACCOUNT, ...WHY });
    const opens = (index: number, inCase = case_id): Promise<unknown> =>
      opener.call("readExactEvent", { event_id: events[index] ?? "", case_id: inCase });
    return { opener, case_id, opens };
  }

  const reads = async (person: string) =>
    (await listAudit(scene.system.pool, async () => scene.system.secrets, { person, limit: 50 })).filter(
      ({ operation, outcome }) => operation === "event.read_raw" && outcome === "done",
    );

  it("needs an approval by another person for more events than the limit, but can read an event again without one", async () => {
    const { opens } = await openerOf("opener-1");
    for (const index of [0, 1, 2, 0]) await opens(index);
    const approvalId = await approvalNeededBy(opens(3));
    expect(await approvalNeededBy(opens(4)), "asked again").toBe(approvalId);
    expect(await decide(approvalId, "opener-1")).toBe(false);
    await approvalNeededBy(opens(3));
    expect(await decide(approvalId)).toBe(true);
    await opens(3);
    await opens(2);
    const [again, further] = await reads("opener-1");
    expect([again?.approval_id, further?.approval_id]).toEqual([null, approvalId]);
  });

  it("opens as many further events as the approval allows, and only with the approved case", async () => {
    const [one, other] = [await openerOf("opener-2"), await openerOf("opener-3")];
    for (const index of [0, 1, 2]) await one.opens(index);
    for (const index of [0, 1, 2]) await other.opens(index);
    const approvalId = await approvalNeededBy(one.opens(3));
    await decide(approvalId);
    for (const index of [3, 4]) await one.opens(index);
    await approvalNeededBy(other.opens(3));
    const { case_id: another } = await one.opener.call("openCase", { account: OTHER, ...WHY });
    expect(await approvalNeededBy(one.opens(7, another))).not.toBe(approvalId);
    await one.opens(5);
    expect(await approvalNeededBy(one.opens(6))).not.toBe(approvalId);
  });

  it("does not exceed the limit by parallel reads, by several tokens, or by a comparison", async () => {
    const [one, same] = [await openerOf("opener-4"), await openerOf("opener-4")];
    const opened = await Promise.allSettled(
      [0, 1, 2, 3, 4, 5].map((index) => (index % 2 === 0 ? one : same).opens(index)),
    );
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(await reads("opener-4")).toHaveLength(3);
    const two = await openerOf("opener-5");
    for (const index of [0, 1]) await two.opens(index);
    const [event_id, other_event_id] = [events[2] ?? "", events[3] ?? ""];
    await approvalNeededBy(two.opener.call("compareEvents", { event_id, other_event_id, case_id: two.case_id }));
    await two.opens(2);
  });

  it("does not exceed the limit with a token that the person obtained for another person", async () => {
    const token = { person: "opener-8", obtainedBy: "opener-7" };
    const [own, other] = [await openerOf("opener-7"), await openerOf("opener-8", token)];
    await other.opens(2);
    // An event that the other person opens with their own credential does not count.
    await (await openerOf("opener-8")).opens(4);
    for (const index of [0, 1]) await own.opens(index);
    for (const { opens } of [own, other]) await approvalNeededBy(opens(3));
  });

  it("is neither blocked nor shown as the reader because of entries that a login of the database inserted", async () => {
    const person = "opener-9";
    const { opener, opens } = await openerOf(person);
    // Events that the person opens would not show a block: an event that was opened before can be opened again.
    const others = events.slice(3);
    const forge = async (): Promise<void> => {
      const key = createSecretKey(Buffer.alloc(32, 1));
      const forged = others.map((eventId) =>
        signOutsideLane(
          { surface: "admin", key },
          {
            entryId: uuidv7(scene.system.clock.now()),
            at: scene.system.clock.now(),
            actor: `${person} (admin token)`,
            via: "api",
            roles: ["investigator"],
            operation: "event.read_raw",
            outcome: "done",
            eventIds: [eventId],
            occurrences: 1,
          },
        ),
      );
      await insertEntries(scene.system.pool, forged);
    };
    await forge();
    for (const index of [0, 1]) await opens(index);
    await checkpointNow(scene.system);
    await opens(2);
    await approvalNeededBy(opens(3));
    expect(await reads(person)).toHaveLength(3);
    const { reads: counted, unverified_entries } = await opener.call("reviewReads", {});
    expect(counted).toMatchObject([{ person, entries: 3, unchecked: 1 }]);
    expect(unverified_entries).toBe(others.length);
    await forge();
    await checkpointNow(scene.system);
    const auditor = await listener.client(["auditor"]);
    const { entries } = await auditor.call("listAudit", { event_id: events[6] ?? "" });
    expect(entries.filter(({ operation }) => operation === "event.read_raw")).toMatchObject([
      { verified: false, actor: "unverified", roles: null },
      { verified: false, actor: "unverified", roles: null },
    ]);
    const { entries: stored } = await auditor.call("listAudit", { event_id: events[2] ?? "" });
    expect(stored.some(({ actor, verified }) => actor.startsWith(person) && verified === true)).toBe(true);
  });

  it("can ask for an approval only for a named case, not for the case of a single read", async () => {
    const { opener, opens } = await openerOf("opener-6");
    for (const index of [0, 1, 2]) await opens(index);
    const unnamed = opener.call("readObservations", { event_id: events[3] ?? "", ...WHY });
    await expect(unnamed).rejects.toMatchObject({
      problem: { code: "approval-needed", detail: expect.stringContaining("drs case open") },
    });
  });
});

describe("cases", () => {
  const remainingCases = async (): Promise<unknown[]> =>
    (await scene.owner.query("select case_id from drs.access_case order by case_id")).rows;

  it("are deleted by the erasure of their account, including cases of its events", async () => {
    const one = await past.store(0, { account: "erased-1" });
    const { case_id: kept } = await client.call("openCase", { account: "customer-1", ...WHY });
    const before = await remainingCases();
    expect(before).toContainEqual({ case_id: kept });
    await client.call("openCase", { account: "erased-1", ...WHY });
    await client.call("openCase", { account: "erased-1", action_id: one.actionId, ...WHY });
    await client.call("openCase", { event_id: one.eventId, ...WHY });
    await client.call("readExactEvent", { event_id: one.eventId, ...WHY });
    const privacy = await listener.client(["privacy"]);
    await privacy.call("runErasure", { account: "erased-1", reason: "request 4711" });
    expect(await remainingCases()).toEqual(before);
  });

  it("are deleted by a retention pass when they have ended and the period for reasons has passed, and not earlier", async () => {
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
    expect(await remainingCases()).toContainEqual({ case_id: kept });
    for (const case_id of [closed, expired]) expect(await remainingCases()).not.toContainEqual({ case_id });
  });
});
