/** Tests of opening several events under one case: one entry, the limit of 24 hours, and events that were deleted. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AdminClient, AdminRequestError } from "@device-risk-signals/admin-api";
import { runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { listAudit } from "../../audit/audit.ts";
import { checkpointNow } from "../../runtime/audit-log.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const folder = useFolder();
const scene = useTestSystem("file", () => ({
  DRS_ERASURE_JOURNAL: join(folder(), "journal"),
  DRS_OPENED_EVENTS_LIMIT: "3",
}));
const listener = useAdminListener(() => scene.system);
let past: Past;

beforeAll(() => void (past = new Past(scene.system)));
afterAll(() => past?.close());

const WHY = { reason: "dispute 4711", category: "dispute" } as const;
const HOSTILE =
  '{"probes": {"__proto__": {"status": "success", "data": {"a": "<script>"}}, "network": {"status": "success",' +
  ' "data": {"wifiSsid": "home", "isVpnActive": false}}, "device_identity": {"status": "success",' +
  ' "data": {"manufacturer": "=cmd()", "model": "\\u202e\\u0007", "systemName": "Android", "systemVersion": "14"}}}}';

let number = 0;

/** A person with a case of an account that has events. */
async function openerWith(events: number, exact?: string) {
  const [person, account] = [`opener-${++number}`, `account-${number}`];
  const stored: PastEvent[] = [];
  for (let left = events; left > 0; left--) stored.push(await past.store(0, { account }, exact));
  const client = await listener.client(["investigator"], { person });
  const { case_id } = await client.call("openCase", { account, ...WHY });
  const ids = stored.map(({ eventId }) => eventId);
  const opens = (event_ids: readonly string[] = ids, by: AdminClient = client, inCase = case_id) =>
    by.call("openEvents", { event_ids: [...event_ids], case_id: inCase });
  return { person, account, client, case_id, ids, opens };
}

const entriesOf = async (person: string) =>
  (await listAudit(scene.system.pool, () => scene.system.secrets, { person, limit: 100 })).filter(
    ({ operation }) => operation === "event.read_observations",
  );

const idsOf = ({ opened }: { readonly opened: readonly { readonly event: { readonly event_id: string } }[] }) =>
  opened.map(({ event }) => event.event_id);

async function approvalNeededBy(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown as AdminRequestError,
  );
  expect(error).toMatchObject({ problem: { code: "approval-needed" } });
  return error?.problem?.approval_id ?? "";
}

const approve = (approvalId: string): Promise<boolean> =>
  scene.system.approvals.decide(scene.system.pool, scene.system.clock, {
    approvalId,
    person: "privacy-1",
    roles: ["privacy"],
    decision: "approved",
  });

describe("several events that are opened under one case", () => {
  it("are named by one audit entry, and count in the case and in the review of reads", async () => {
    const { person, account, client, case_id, ids, opens } = await openerWith(3);
    const answer = await opens([...ids, ids[0]?.toUpperCase() ?? ""]);
    expect(idsOf(answer)).toEqual(ids);
    expect(answer.unopened).toEqual([]);
    const entries = await entriesOf(person);
    expect(new Set(entries.map(({ entry_id }) => entry_id))).toEqual(new Set([answer.audit_entry]));
    expect(entries.map(({ event_id }) => event_id).toSorted()).toEqual(ids.toSorted());
    expect(entries[0]).toMatchObject({
      outcome: "done",
      case_id,
      ...WHY,
      account: scene.system.audit.subjectOf(account).toString("hex"),
    });
    const { cases } = await client.call("listCases", {});
    expect(cases).toMatchObject([{ case_id, events_opened: 3 }]);
    expect((await client.call("reviewReads", {})).reads).toMatchObject([
      { person, entries: 1, events: 3, accounts: 1 },
    ]);
  });

  it("show an analyst no field of high sensitivity, and no text changes what is around it", async () => {
    const { account, ids, opens } = await openerWith(1, HOSTILE);
    const full = await opens();
    expect(JSON.stringify(full)).toContain('"__proto__":{"status":"success","data":{"a":"<script>"}}');
    expect(full.opened[0]?.withheld).toEqual([]);
    const analyst = await listener.client(["analyst"]);
    const { case_id } = await analyst.call("openCase", { account, ...WHY });
    const [opened] = (await opens(ids, analyst, case_id)).opened;
    expect(opened?.withheld).toContain("/probes/network/data/wifiSsid");
    expect(JSON.stringify(opened?.observations)).not.toContain("home");
    expect(({} as Record<string, unknown>)["status"]).toBeUndefined();
  });

  it("are none, if the case does not cover one of them or is of another person, and each attempt is audited", async () => {
    const [one, other] = [await openerWith(1), await openerWith(1)];
    const both = [...one.ids, ...other.ids];
    await expect(one.opens(both)).rejects.toMatchObject({ code: "case-invalid" });
    await expect(other.opens(one.ids, other.client, one.case_id)).rejects.toMatchObject({ code: "case-invalid" });
    await one.client.call("closeCase", { case_id: one.case_id });
    await expect(one.opens()).rejects.toMatchObject({ code: "case-invalid" });
    const entries = [...(await entriesOf(one.person)), ...(await entriesOf(other.person))];
    expect(entries.map(({ outcome }) => outcome)).toEqual(["denied", "denied", "denied", "denied"]);
    const { cases } = await one.client.call("listCases", {});
    expect(cases).toMatchObject([{ events_opened: 0 }]);
  });

  it("end at the limit of 24 hours, say which were not opened, and then need an approval", async () => {
    const { person, ids, opens } = await openerWith(5);
    const first = await opens();
    expect(idsOf(first)).toEqual(ids.slice(0, 3));
    expect(first.unopened).toEqual(ids.slice(3).map((event_id) => ({ event_id, reason: "limit" })));
    const again = await opens();
    expect(idsOf(again), "opened before").toEqual(ids.slice(0, 3));
    const approvalId = await approvalNeededBy(opens(ids.slice(3)));
    await checkpointNow(scene.system);
    await approvalNeededBy(opens(ids.slice(3)));
    expect(await approve(approvalId)).toBe(true);
    const further = await opens(ids.slice(3));
    expect(idsOf(further)).toEqual(ids.slice(3));
    const [entry] = await entriesOf(person);
    expect(entry).toMatchObject({ entry_id: further.audit_entry, approval_id: approvalId });
  });

  it("do not exceed the limit by parallel calls, nor by what an approval allows", async () => {
    const { ids, opens, case_id } = await openerWith(8);
    const opened = await Promise.allSettled([opens(ids.slice(0, 2)), opens(ids.slice(2, 4)), opens(ids.slice(4, 6))]);
    const seen = opened.flatMap((one) => (one.status === "fulfilled" ? idsOf(one.value) : []));
    expect(seen).toHaveLength(3);
    const left = ids.filter((id) => !seen.includes(id));
    await approve(await approvalNeededBy(opens(left)));
    const further = await opens(left);
    expect(idsOf(further), case_id).toEqual(left.slice(0, 3));
    expect(further.unopened.map(({ reason }) => reason)).toEqual(["limit", "limit"]);
  });

  it("are left out if they were erased, restricted or never stored, with the same words", async () => {
    const { account, ids, opens, client } = await openerWith(2);
    const privacy = await listener.client(["privacy"]);
    await privacy.call("runErasure", { event_id: ids[0] ?? "", reason: "request 4711" });
    const unknown = "019a0000-0000-7000-8000-000000000000";
    const answer = await opens([...ids, unknown]);
    expect(idsOf(answer)).toEqual([ids[1]]);
    expect(answer.unopened).toEqual([ids[0], unknown].map((event_id) => ({ event_id, reason: "not-found" })));
    await scene.owner.query("update account_key set restricted = true where account = $1", [account]);
    await expect(opens()).rejects.toMatchObject({ code: "not-found" });
    expect((await client.call("listCases", {})).cases).toMatchObject([{ events_opened: 1 }]);
  });

  it("are left out if they were deleted after the entry was written", async () => {
    const { person, ids, opens } = await openerWith(2);
    await scene.owner.query(
      `create function delete_first() returns trigger language plpgsql security definer as $$
        begin delete from drs.event where event_id = '${ids[0]}'; return null; end $$;
      create trigger delete_first after insert on audit_entry for each row
        when (new.operation = 'event.read_observations') execute function delete_first()`,
    );
    const answer = await opens();
    await scene.owner.query("drop trigger delete_first on audit_entry; drop function delete_first()");
    expect(idsOf(answer)).toEqual([ids[1]]);
    expect(answer.unopened).toEqual([{ event_id: ids[0], reason: "not-found" }]);
    expect(await entriesOf(person)).toHaveLength(2);
  });

  it.each([
    { event_ids: [] },
    { event_ids: ["x"] },
    { event_ids: Array.from({ length: 51 }, () => "019a0000-0000-7000-8000-000000000000") },
    { event_ids: ["019a0000-0000-7000-8000-000000000000"], reason: "without a case" },
  ])("are refused of %j", async (input) => {
    const { client, case_id } = await openerWith(0);
    await expect(client.call("openEvents", { case_id, ...input })).rejects.toMatchObject({ code: "request-invalid" });
  });

  it("are printed by drs event open with their device", async () => {
    const { account, ids } = await openerWith(2, HOSTILE);
    const drs = async (...args: readonly string[]) => (await runWithBreakGlass(scene.environment, ...args)).stdout;
    const opened = await drs("case", "open", "--account", account, "--category", "dispute", "--reason", "dispute 4711");
    const stdout = await drs("event", "open", ...ids, "--case", opened.split("\n")[0] ?? "");
    for (const id of ids) expect(stdout).toContain(id);
    expect(stdout).toContain("Android 14");
    for (const hidden of ["\u0007", "\u202e"]) expect(stdout).not.toContain(hidden);
  });
});
