/** Tests of what each role reads through the admin API, and of the audit entries of reads. */
import { afterAll, describe, expect, it } from "vitest";
import { AdminRequestError, type Answer, type Input, type Role } from "@device-risk-signals/admin-api";
import { send } from "../../../../../e2e/support/client.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { listAudit, writeAudit } from "../../audit/audit.ts";
import { cursorOf } from "../../operations/list-page.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";
import { OBSERVATIONS, useStoredEvent } from "./stored-event.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);
const setUp = useStoredEvent(scene);

afterAll(() => expect(listener.errors, "a mistake of a caller is no error of the listener").toEqual([]));

describe("what the admin API shows", () => {
  it("gives an operator pseudonyms of accounts, actions, sessions and idempotency keys, and no way to find the names", async () => {
    const client = await listener.client(["operator"]);
    const { events } = await client.call("listEvents", {});
    const shown = JSON.stringify(events);
    const names = ["customer-1", "session-1", setUp.event.idempotencyKey, setUp.event.actionId];
    for (const name of names) expect(shown).not.toContain(name);
    const [account, of] = ["customer-1", { code: "permission-missing" }];
    const searches = [{ account }, { action_id: setUp.event.actionId }, { account, session_id: "s" }];
    for (const search of searches) await expect(client.call("listEvents", search)).rejects.toMatchObject(of);
    const refused = (await client.call("listAudit", {})).entries.slice(0, searches.length);
    expect(refused).toMatchObject(searches.map(() => ({ operation: "event.list", outcome: "denied", account: null })));
    const key = { account, idempotency_key: setUp.event.idempotencyKey };
    await expect(client.call("readTimeline", key)).rejects.toMatchObject(of);
    // If the operator could name an account, the entry of that search would reveal to which account entries about
    // events belong.
    await client.call("issueToken", { account, ttl_ms: 1_000 });
    await client.call("readEvent", { event_id: setUp.event.eventId });
    const { entries } = await client.call("listAudit", {});
    expect(entries.map((entry) => entry.account)).toEqual(entries.map(() => null));
    await expect(client.call("listAudit", { account })).rejects.toMatchObject(of);
    const [again] = (await client.call("listEvents", {})).events;
    expect(again?.account).toBe(events[0]?.account);
  });

  it("gives an analyst no field of high sensitivity, and names the withheld fields", async () => {
    const client = await listener.client(["analyst"]);
    const read = { event_id: setUp.event.eventId, reason: "dispute 4711", category: "dispute" } as const;
    const { observations, withheld } = await client.call("readObservations", read);
    expect(withheld).toEqual(["/n", "/probes/network/data/wifiSsid"]);
    expect(JSON.stringify(observations)).not.toContain("home");
    expect(JSON.stringify(observations)).toContain("isVpnActive");
  });

  it("gives no part of an event without an audit entry, neither by HEAD nor by Range", async () => {
    const token = await listener.token(["investigator"], { person: "ranger" });
    const body = JSON.stringify({ reason: "dispute 4711", category: "dispute" });
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", Range: "bytes=0-1" };
    const path = `/admin/v1/events/${setUp.event.eventId}/exact`;
    const whole = await send({ url: listener.url, path, headers, body });
    expect([whole.status, whole.text]).toEqual([200, OBSERVATIONS]);
    expect((await fetch(new URL(path, listener.url), { method: "HEAD", headers })).status).toBe(405);
    const entries = await listAudit(scene.system.pool, () => scene.system.secrets, { person: "ranger", limit: 10 });
    expect(entries.map(({ entry_id }) => entry_id)).toEqual([whole.headers["audit-entry"]]);
  });

  it("compares for an analyst no field of high sensitivity", async () => {
    const observations = OBSERVATIONS.replace("home", "away").replace("false", "true");
    const { eventId } = await setUp.past.store(0, { account: "customer-1" }, observations);
    const ids = { event_id: setUp.event.eventId, other_event_id: eventId } as const;
    const asked = { ...ids, reason: "dispute 4711", category: "dispute" } as const;
    const paths = async (role: Role) => {
      const { differences, withheld } = await (await listener.client([role])).call("compareEvents", asked);
      return { paths: differences.map(({ path }) => path), withheld };
    };
    const [vpn, ssid] = ["/probes/network/data/isVpnActive", "/probes/network/data/wifiSsid"];
    expect(await paths("analyst")).toEqual({ paths: [vpn], withheld: ["/n", ssid] });
    expect(await paths("investigator")).toEqual({ paths: [vpn, ssid], withheld: [] });
  });

  it("gives an investigator the exact bytes", async () => {
    const client = await listener.client(["investigator"]);
    const read = { event_id: setUp.event.eventId, reason: "dispute 4711", category: "dispute" } as const;
    expect(Buffer.from(await client.call("readExactEvent", read)).toString()).toBe(OBSERVATIONS);
  });

  it("gives only the auditor entries of other people", async () => {
    const person = "reader-of-own";
    const own = await listener.client(["analyst"], { person });
    await own.call("listEvents", { account: "customer-1" });
    const { entries } = await own.call("listAudit", { limit: 1000 });
    expect(entries.length).toBeGreaterThan(0);
    expect(entries.filter(({ actor }) => !actor.startsWith(`${person} (`))).toEqual([]);
    const auditor = await listener.client(["auditor"]);
    expect((await auditor.call("listAudit", {})).entries.some(({ actor }) => actor.startsWith(person))).toBe(true);
  });

  it("finds audit entries by person, operation and time, each filter within the others", async () => {
    const person = "found-person";
    const own = await listener.client(["analyst"], { person });
    await own.call("listEvents", { account: "customer-1" });
    await own.call("listDrift", {});
    const { pool, audit } = scene.system;
    const direct = { actor: `${person} (uid 0)`, via: "direct", outcome: "done" } as const;
    await writeAudit(pool, audit, { ...direct, operation: "event.list" });
    await writeAudit(pool, audit, { ...direct, actor: `${person}-2 (uid 0)`, operation: "event.list" });
    const auditor = await listener.client(["auditor"]);
    const found = async (filter: Input<"listAudit">, client = auditor) =>
      (await client.call("listAudit", filter)).entries.map(({ operation, via }) => `${operation} ${via}`);
    expect(await found({ person })).toEqual(["event.list direct", "drift.list api", "event.list api"]);
    expect(await found({ person, operation: "event.list" })).toEqual(["event.list direct", "event.list api"]);
    expect(await found({ person, operation: "event.list", account: "customer-1" })).toEqual(["event.list api"]);
    const { entries } = await auditor.call("listAudit", { person });
    const [last, , first] = entries.map(({ at }) => at);
    const after = new Date(Date.parse(last ?? "") + 1).toISOString();
    expect(await found({ person, from: first ?? "", to: after })).toHaveLength(3);
    expect(await found({ person, from: after })).toEqual([]);
    expect(await found({ person, to: first ?? "" })).toEqual([]);
    expect(await found({ person, from: "0000-01-01T00:00:00Z", limit: 1 })).toHaveLength(1);
    expect(await found({ person: "person-auditor", operation: "audit.list" }, own), "of another person").toEqual([]);
    const [listed] = (await auditor.call("listAudit", { operation: "audit.list", person: "person-auditor" })).entries;
    expect(listed?.detail).toMatchObject({ person, from: "0000-01-01T00:00:00Z", limit: 1 });
  });

  it("pages through audit entries without a gap, even within an entry of several events", async () => {
    const stored = await Promise.all([0, 1, 2].map(() => setUp.past.store(0, { account: "customer-of-entries" })));
    const { pool, audit } = scene.system;
    const eventIds = stored.map(({ eventId }) => eventId);
    await writeAudit(pool, audit, { actor: "a", via: "server", operation: "test.write", outcome: "done", eventIds });
    const client = await listener.client(["auditor"]);
    const newest = (entries: Answer<"listAudit">["entries"]) => {
      const first = entries.findIndex(({ operation }) => operation === "test.write");
      return entries.slice(first, first + 6);
    };
    const all = (await client.call("listAudit", { limit: 10 })).entries;
    expect(newest(all).filter(({ operation }) => operation === "test.write")).toHaveLength(3);
    const seen: Answer<"listAudit">["entries"] = [];
    let after: string | null = null;
    do {
      const page: Answer<"listAudit"> = await client.call("listAudit", { limit: 2, ...(after !== null && { after }) });
      seen.push(...page.entries);
      after = page.next;
    } while (after !== null && seen.length < 12);
    expect(newest(seen)).toEqual(newest(all));
    await expect(client.call("listAudit", { after: "x" })).rejects.toMatchObject({ code: "request-invalid" });
  });

  it("pages through counts without a gap", async () => {
    await scene.system.pool.query(
      `insert into probe_outcome (hour, platform, sdk_version, os_major, probe, state, reason, occurrences)
        select '2026-01-01T00:00:00Z'::timestamptz - interval '1 hour' * (n / 2), 'ios', '1.0.0', '', 'network', 'state-' || n, '', n
        from generate_series(1, 5) n`,
    );
    const client = await listener.client(["analyst"]);
    const all = await client.call("listOutcomes", { platform: "ios" });
    expect(all).toMatchObject({ next: null });
    const seen: Answer<"listOutcomes">["outcomes"] = [];
    let after: string | null = null;
    do {
      const wanted = { platform: "ios", limit: 2, ...(after !== null && { after }) } as const;
      const page: Answer<"listOutcomes"> = await client.call("listOutcomes", wanted);
      seen.push(...page.outcomes);
      after = page.next;
    } while (after !== null);
    expect(seen).toHaveLength(5);
    expect(seen).toEqual(all.outcomes);
  });

  it.each([
    "x",
    "bnVsbA",
    Buffer.from(JSON.stringify(["x", "", "", "", ""])).toString("base64url"),
    Buffer.from(JSON.stringify(["2026-01-01T00:00:00Z"])).toString("base64url"),
    Buffer.from(JSON.stringify(["2026-01-01T00:00:00Z", "\0", "", "", ""])).toString("base64url"),
  ])("refuses %s as the start of a page of counts", async (after) => {
    const client = await listener.client(["analyst"]);
    await expect(client.call("listRejections", { after })).rejects.toMatchObject({ code: "request-invalid" });
  });

  it.each([
    ["listEvents", { from: "0000-01-01T00:00:00Z" }],
    ["listEvents", { after: "-200000-01-01T00:00:00Z" }],
    ["listEvents", { to: "2026-12-31T23:59:60Z" }],
    ["listEvents", { to: "2026-01-01T00:00:00Z[Europe/Berlin]" }],
    ["listOutcomes", { to: "0001-01-01T00:00:00+23:59" }],
    ["listCases", { after: cursorOf(["0000-01-01T00:00:00.000Z", "019a0000-0000-7000-8000-000000000000"]) }],
    ["listRejections", { after: cursorOf(["-200000-01-01T00:00:00Z", "", "", "", ""]) }],
  ] as const)("refuses a time in %s that the server or the database can't read: %j", async (route, input) => {
    const client = await listener.client(["analyst"]);
    await expect(client.call(route, input)).rejects.toMatchObject({ code: "request-invalid" });
  });

  it("pages through events without a gap", async () => {
    const account = "customer-of-pages";
    const stored = [];
    for (let index = 0; index < 5; index++) stored.push(await setUp.past.store(index, { account }));
    const client = await listener.client(["analyst"]);
    const seen = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof client.call<"listEvents">>> = await client.call("listEvents", {
        account,
        limit: 2,
        ...(after !== null && { after }),
      });
      seen.push(...page.events.map(({ event_id }) => event_id));
      after = page.next;
    } while (after !== null);
    expect(seen).toEqual(stored.map(({ eventId }) => eventId));
  });

  it("finds by session, platform, purpose, time and idempotency key", async () => {
    const account = "customer-of-filters";
    const ios = await setUp.past.store(1, { account, platform: "ios", sessionId: "session-9" });
    const android = await setUp.past.store(2, { account });
    const client = await listener.client(["analyst"]);
    const found = async (filter: Record<string, string>) =>
      (await client.call("listEvents", { account, ...filter })).events.map(({ event_id }) => event_id);
    expect(await found({ session_id: "session-9" })).toEqual([ios.eventId]);
    expect(await found({ platform: "android" })).toEqual([android.eventId]);
    expect(await found({ idempotency_key: android.idempotencyKey })).toEqual([android.eventId]);
    expect(await found({ purpose: "default" })).toEqual([ios.eventId, android.eventId]);
    expect(await found({ from: new Date(Date.now() - 5_400_000).toISOString() })).toEqual([ios.eventId]);
    expect(await found({ to: new Date(Date.now() - 5_400_000).toISOString() })).toEqual([android.eventId]);
    const all = await client.call("listEvents", { platform: "ios" });
    expect(all).toMatchObject({ next: null, searched_until: null });
    expect(all.events.map(({ event_id }) => event_id)).toEqual([ios.eventId]);
  });
});

describe("what is done through the admin API", () => {
  it("is audited before it is answered, with person, roles and `via`", async () => {
    const client = await listener.client(["investigator"], { person: "audited" });
    const read = { event_id: setUp.event.eventId, reason: "dispute 4711", category: "dispute", ticket: "T-1" } as const;
    await client.call("readExactEvent", read);
    await client.call("listEvents", { account: "customer-1" });
    await client.call("readEvent", { event_id: setUp.event.eventId });
    await expect(client.call("listAdminTokens", {})).rejects.toBeInstanceOf(AdminRequestError);
    const entries = await listAudit(scene.system.pool, () => scene.system.secrets, { person: "audited", limit: 10 });
    expect(entries.map(({ operation, outcome }) => `${operation} ${outcome}`)).toEqual([
      "admin-token.list denied",
      "event.read done",
      "event.list done",
      "event.read_raw done",
    ]);
    expect(entries[3]).toMatchObject({
      via: "api",
      roles: ["investigator"],
      account: scene.system.audit.subjectOf("customer-1").toString("hex"),
      event_id: setUp.event.eventId,
      reason: "dispute 4711",
      category: "dispute",
      ticket: "T-1",
    });
  });
});
