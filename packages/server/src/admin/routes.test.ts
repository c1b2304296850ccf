import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  AdminRequestError,
  type Answer,
  createAdminClient,
  type Role,
  ROLE_NAMES,
  ROUTE_IDS,
  type RouteId,
  routeOf,
  scopeOf,
} from "@device-risk-signals/admin-api";
import { requestOf } from "@device-risk-signals/admin-api/client";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { send, sendRaw } from "../../../../e2e/support/client.ts";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { listAudit, writeAudit } from "../audit/audit.ts";
import { listAdminTokens, revokeAdminToken } from "../identity/admin-tokens.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);
let past: Past;
let event: PastEvent;
let investigated: string;

const OBSERVATIONS =
  '{"probes": {"network": {"status": "success", "data": {"isVpnActive": false, "wifiSsid": "home"}}}, "n": 1.0}';

beforeAll(async () => {
  past = new Past(scene.system);
  event = await past.store(0, { account: "customer-1", sessionId: "session-1" }, OBSERVATIONS);
  const investigator = await listener.client(["investigator"]);
  const of = { account: "customer-1", category: "dispute", reason: "dispute 4711" } as const;
  investigated = (await investigator.call("openCase", of)).case_id;
});
afterAll(() => past?.close());

const POLICY = JSON.stringify({
  purposes: [
    {
      id: "default",
      title: "Fraud prevention",
      legal_basis: "legitimate interest",
      owner: "o",
      raw_retention: "P90D",
      derived_retention: "P1Y",
    },
  ],
  actions: {},
  unmapped: "default",
});
interface Paged extends Readonly<Record<string, readonly object[] | string | null | undefined>> {
  readonly next: string | null;
}

const NO_ID = "019a0000-0000-7000-8000-000000000000";

/** An input for each route. It need not succeed if the caller lacks the permission. */
const inputs = (): Readonly<Record<RouteId, Record<string, unknown>>> => ({
  readSession: {},
  signOut: {},
  listSessions: {},
  revokeSession: { session_id: NO_ID },
  readHealth: {},
  readConfiguration: {},
  listEvents: {},
  readEvent: { event_id: event.eventId },
  readObservations: { event_id: event.eventId, reason: "dispute 4711", category: "dispute" },
  compareEvents: {
    event_id: event.eventId,
    other_event_id: event.eventId,
    reason: "dispute 4711",
    category: "dispute",
  },
  readExactEvent: { event_id: event.eventId, reason: "dispute 4711", category: "dispute" },
  openCase: { account: "customer-1", reason: "dispute 4711", category: "dispute" },
  listCases: {},
  closeCase: { case_id: NO_ID },
  listApprovals: {},
  readApproval: { approval_id: NO_ID },
  approve: { approval_id: NO_ID },
  deny: { approval_id: NO_ID },
  listOrders: {},
  readOrder: { order_id: NO_ID },
  listAudit: {},
  reviewReads: {},
  listReviews: {},
  openReview: { entry_id: NO_ID, reason: "review 4711" },
  closeReview: { review_id: NO_ID, reason: "review 4711" },
  listAdminTokens: {},
  issueAdminToken: { person: "j.doe", roles: ["auditor"], ttl_ms: 1_000 },
  revokeAdminToken: { token_id: NO_ID },
  listTokens: {},
  issueToken: { account: "customer-1", ttl_ms: 1_000 },
  revokeToken: { token_id: NO_ID },
  listActions: {},
  registerAction: { account: "customer-1", action_type: "payment", ttl_ms: 1_000 },
  revokeAction: { account: "customer-1", action_id: "act_1" },
  listPurposes: {},
  readProcessingRecord: {},
  applyPolicy: { policy: POLICY, dry_run: true },
  listDrift: {},
  readDrift: { path: "fonts.novel" },
  readOverlay: {},
  acceptDrift: { path: "fonts.novel", type: "boolean", sensitivity: "low", reason: "review 4711" },
  classifyDrift: { path: "fonts.novel", sensitivity: "low", reason: "review 4711" },
  ignoreDrift: { path: "fonts.novel", reason: "review 4711" },
  rejectDrift: { path: "fonts.novel", reason: "review 4711" },
  proposeFeatures: { bundles: [bundleOf("() => true")], reason: "review 4711", dry_run: true },
  recordEquivalence: { bundles: [bundleOf("() => true")], reason: "review 4711", dry_run: true },
  adoptFeatures: { features: ["none@1"], purpose: "default", reason: "review 4711" },
  retireFeatures: { features: ["none@1"], purpose: "default", reason: "review 4711" },
  listFeatureDecisions: {},
  readLayers: {},
  startBackfill: { purpose: "default", reason: "review 4711" },
  listBackfills: {},
  pauseBackfill: { run_id: NO_ID },
  resumeBackfill: { run_id: NO_ID },
  cancelBackfill: { run_id: NO_ID },
  readFeatures: { event_id: event.eventId },
  explainFeature: { event_id: event.eventId, feature: "none" },
  verifyFeatures: { event_id: event.eventId },
  listAttestations: {},
  verifyAttestations: {},
  compareFeatures: { before: "none@1", after: "none@2", purpose: "default" },
  exportFeatures: {
    labels: { format: "csv", text: "account,label_time,label\n" },
    features: ["none@1"],
    purpose: "default",
    clock: "known",
    format: "csv",
    recipient: "x",
    reason: "model 4711",
    expires_on: "2999-01-31",
  },
  repeatExport: { export_id: NO_ID, labels: { format: "csv", text: "account\n" }, reason: "model 4711" },
  exportEvents: { case_id: investigated, account: "customer-1", recipient: "x", expires_on: "2999-01-31" },
  listExports: {},
  readExport: { export_id: NO_ID },
  readRecalls: { export_id: NO_ID },
  acknowledgeRecalls: { export_id: NO_ID, reason: "a letter" },
  listOutcomes: {},
  listRejections: {},
  readTimeline: { account: "customer-1", idempotency_key: event.idempotencyKey },
  listHolds: {},
  addHold: { event_id: NO_ID, reason: "dispute 4711", approver: "J. Doe", review_on: "2999-01-31" },
  reviewHold: { hold_id: NO_ID, approver: "J. Doe", review_on: "2999-01-31" },
  liftHold: { hold_id: NO_ID, reason: "dispute 4711" },
  listRestrictions: {},
  addRestriction: { account: "unknown", article: 18, reason: "dispute 4711", approver: "J. Doe" },
  liftRestriction: { restriction_id: NO_ID, informed_on: "2026-01-31", reason: "dispute 4711" },
  readReceiptKey: {},
  readReceipt: { id: NO_ID },
  readOverdue: {},
  runRetention: {},
  readRetention: {},
  listRequests: {},
  addRequest: { account: "customer-1", kind: "access" },
  extendRequest: { request_id: NO_ID, reason: "many at once" },
  closeRequest: { request_id: NO_ID, outcome: "refused", reason: "no such person" },
  exportAccount: { account: "customer-1", reason: "request 17", request_id: NO_ID },
  listErasures: {},
  planErasure: { account: "customer-1" },
  runErasure: { account: "customer-1", reason: "request 17", dry_run: true },
  acceptJournalLoss: { entry: 1, reason: "no copy has it" },
  listKeys: {},
  rotateKeys: {},
  destroyKey: { version: "none" },
  acceptKeyLoss: { reason: "no copy has them" },
});

async function call(id: RouteId, authorization: string | undefined): Promise<number> {
  const route = routeOf(id);
  const { target, body } = requestOf(route, inputs()[id]);
  const headers = { Authorization: authorization, ...(body !== undefined && { "Content-Type": "application/json" }) };
  const reply = await send({ url: listener.url, method: route.method, path: target, headers, ...(body && { body }) });
  return reply.status;
}

describe("every route of the admin API", () => {
  it.each(ROUTE_IDS)("%s answers 401 without a token and with an unknown one", async (id) => {
    const unknown = `Bearer drs_adm_${"a".repeat(43)}`;
    for (const authorization of [undefined, unknown, "Basic YTpi"]) {
      expect(await call(id, authorization)).toBe(401);
    }
    listener.pass(1_000);
  });

  const combinations = ROUTE_IDS.flatMap((id) => ROLE_NAMES.map((role) => ({ id, role })));
  const tokens = new Map<Role, Promise<string>>();
  it.each(combinations)("$id answers the role $role as the table of permissions says", async ({ id, role }) => {
    const token = tokens.get(role) ?? listener.token([role]);
    tokens.set(role, token);
    const isGranted = scopeOf(routeOf(id).permission, [role]) !== undefined;
    const status = await call(id, `Bearer ${await token}`);
    // An admin token decides about no approval, with any roles.
    if (id === "approve" || id === "deny" || !isGranted) expect(status).toBe(403);
    else expect([200, 404, 409]).toContain(status);
  });

  it.each(ROUTE_IDS)("%s names its methods in the answer to another method", async (id) => {
    const { target } = requestOf(routeOf(id), inputs()[id]);
    for (const method of ["HEAD", "PUT"]) {
      const reply = await fetch(new URL(target, listener.url), { method });
      expect(reply.status).toBe(405);
      expect(reply.headers.get("Allow")).toContain(routeOf(id).method);
    }
  });
});

describe("an admin token", () => {
  it("that is revoked is rejected at once", async () => {
    const client = await listener.client(["auditor"], { person: "leaver" });
    await client.call("readSession", {});
    const row = (await listAdminTokens(scene.system.pool)).find(({ person }) => person === "leaver");
    await revokeAdminToken(scene.system.pool, scene.system.clock, row?.token_id ?? "");
    await expect(client.call("readSession", {})).rejects.toMatchObject({ status: 401, code: "credentials-invalid" });
  });

  it("that has expired is rejected", async () => {
    const client = await listener.client(["auditor"], { at: Date.now() - 2 * 3_600_000 });
    await expect(client.call("readSession", {})).rejects.toMatchObject({ code: "credentials-invalid" });
  });

  it("decides about no approval, because it is not a person", async () => {
    const client = await listener.client(["operator"]);
    for (const decision of ["approve", "deny"] as const) {
      await expect(client.call(decision, { approval_id: NO_ID })).rejects.toMatchObject({ code: "permission-missing" });
    }
  });

  it("can't be a session token of the endpoint", async () => {
    const client = createAdminClient({ url: listener.url, token: `drs_${"a".repeat(43)}` });
    await expect(client.call("readSession", {})).rejects.toMatchObject({ code: "credentials-invalid" });
  });

  it("is listed with the time of its last use", async () => {
    const client = await listener.client(["privacy"], { person: "user-of-tokens" });
    const { tokens } = await client.call("listAdminTokens", {});
    const used = tokens.find(({ person }) => person === "user-of-tokens");
    expect(Date.now() - Date.parse(used?.last_used_at ?? "")).toBeLessThan(60_000);
  });

  it("is revoked by the operator", async () => {
    await listener.token(["analyst"], { person: "thief" });
    const client = await listener.client(["operator"]);
    const { tokens } = await client.call("listAdminTokens", {});
    const token_id = tokens.find(({ person }) => person === "thief")?.token_id ?? "";
    expect(await client.call("revokeAdminToken", { token_id })).toEqual({ token_id });
    await expect(client.call("revokeAdminToken", { token_id })).rejects.toMatchObject({ code: "not-found" });
  });
});

describe("a request of the admin API", () => {
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const token = await listener.token(["investigator"]);
    return send({ url: listener.url, method: "GET", path, headers: { Authorization: `Bearer ${token}`, ...headers } });
  };

  it("with two credentials is refused", async () => {
    const token = await listener.token(["auditor"]);
    const line = `Authorization: Bearer ${token}\r\n`;
    const request = `GET /admin/v1/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
    expect((await sendRaw(listener.url, `${request}${line}\r\n`)).status).toBe(200);
    expect((await sendRaw(listener.url, `${request}${line}${line}\r\n`)).status).toBe(401);
  });

  it("from a page of another origin is refused", async () => {
    expect((await get("/admin/v1/session", { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect((await get("/admin/v1/session", { Origin: "https://evil.example" })).status).toBe(403);
    expect((await get("/admin/v1/session", { Origin: "null" })).status).toBe(403);
    expect((await get("/admin/v1/session", { Origin: listener.url })).status).toBe(200);
  });

  it("under a name that is not the listener's is refused", async () => {
    expect((await get("/admin/v1/session", { Host: "evil.example" })).status).toBe(421);
  });

  it("with a body of another type is refused", async () => {
    const token = await listener.token(["investigator"]);
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "text/plain" };
    const path = "/admin/v1/cases";
    const reply = await send({ url: listener.url, path, headers, body: '{"account":"a"}' });
    expect(reply.status).toBe(415);
  });

  it.each([
    ["an unknown parameter", "/admin/v1/events?access_token=secret-value", "access_token"],
    ["a parameter twice", "/admin/v1/events?account=a&account=b", "account"],
    ["a number that is none", "/admin/v1/events?limit=many", "limit"],
    ["a limit beyond the maximum", "/admin/v1/events?limit=100000", "limit"],
    ["a NUL", "/admin/v1/events?account=a%00b", "account"],
    ["an id that is none", "/admin/v1/events/1", "event_id"],
    ["a cursor that is none", "/admin/v1/events?after=x", "after"],
    ["a session without its account", "/admin/v1/events?session_id=s", "session_id"],
    ["an unknown purpose", "/admin/v1/events?purpose=none", "purpose"],
  ])("with %s is refused by name, and its value is not repeated", async (_, path, name) => {
    const reply = await get(path);
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(name);
    expect(reply.text).not.toContain("secret-value");
  });

  it("has an answer with headers that keep it out of caches and pages", async () => {
    const { headers } = await get("/admin/v1/session");
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
  });

  it("that fails too often to authenticate has to wait, even with the right token", async () => {
    listener.stopTime();
    const wrong = { Authorization: `Bearer drs_adm_${"b".repeat(43)}` };
    const ask = () => send({ url: listener.url, method: "GET", path: "/admin/v1/session", headers: wrong });
    const replies = await Promise.all(Array.from({ length: 140 }, ask));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect((await get("/admin/v1/session")).status).toBe(429);
    listener.pass(1_000);
    expect((await get("/admin/v1/session")).status).toBe(200);
  });
});

describe("what the admin API shows", () => {
  it("gives an operator pseudonyms of accounts, actions, sessions and idempotency keys, and no way to undo them", async () => {
    const client = await listener.client(["operator"]);
    const { events } = await client.call("listEvents", {});
    const shown = JSON.stringify(events);
    const names = ["customer-1", "session-1", event.idempotencyKey, event.actionId];
    for (const name of names) expect(shown).not.toContain(name);
    const [account, of] = ["customer-1", { code: "permission-missing" }];
    const searches = [{ account }, { action_id: event.actionId }, { account, session_id: "s" }];
    for (const search of searches) await expect(client.call("listEvents", search)).rejects.toMatchObject(of);
    const refused = (await client.call("listAudit", {})).entries.slice(0, searches.length);
    expect(refused).toMatchObject(searches.map(() => ({ operation: "event.list", outcome: "denied", account: null })));
    const key = { account, idempotency_key: event.idempotencyKey };
    await expect(client.call("readTimeline", key)).rejects.toMatchObject(of);
    // An entry about an account that the operator named would reveal the account of an entry about an event.
    await client.call("issueToken", { account, ttl_ms: 1_000 });
    await client.call("readEvent", { event_id: event.eventId });
    const { entries } = await client.call("listAudit", {});
    expect(entries.map((entry) => entry.account)).toEqual(entries.map(() => null));
    await expect(client.call("listAudit", { account })).rejects.toMatchObject(of);
    const [again] = (await client.call("listEvents", {})).events;
    expect(again?.account).toBe(events[0]?.account);
  });

  it("gives an analyst no field of high sensitivity, and names the withheld fields", async () => {
    const client = await listener.client(["analyst"]);
    const read = { event_id: event.eventId, reason: "dispute 4711", category: "dispute" } as const;
    const { observations, withheld } = await client.call("readObservations", read);
    expect(withheld).toEqual(["/n", "/probes/network/data/wifiSsid"]);
    expect(JSON.stringify(observations)).not.toContain("home");
    expect(JSON.stringify(observations)).toContain("isVpnActive");
  });

  it("gives no part of an event without an entry: not by HEAD, not by Range", async () => {
    const token = await listener.token(["investigator"], { person: "ranger" });
    const body = JSON.stringify({ reason: "dispute 4711", category: "dispute" });
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", Range: "bytes=0-1" };
    const path = `/admin/v1/events/${event.eventId}/exact`;
    const whole = await send({ url: listener.url, path, headers, body });
    expect([whole.status, whole.text]).toEqual([200, OBSERVATIONS]);
    expect((await fetch(new URL(path, listener.url), { method: "HEAD", headers })).status).toBe(405);
    const entries = await listAudit(scene.system.pool, () => scene.system.secrets, { person: "ranger", limit: 10 });
    expect(entries.map(({ entry_id }) => entry_id)).toEqual([whole.headers["audit-entry"]]);
  });

  it("compares for an analyst no field of high sensitivity", async () => {
    const observations = OBSERVATIONS.replace("home", "away").replace("false", "true");
    const { eventId } = await past.store(0, { account: "customer-1" }, observations);
    const ids = { event_id: event.eventId, other_event_id: eventId } as const;
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
    const read = { event_id: event.eventId, reason: "dispute 4711", category: "dispute" } as const;
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

  it("pages through audit entries without a gap, even within an entry of several events", async () => {
    const stored = await Promise.all([0, 1, 2].map(() => past.store(0, { account: "customer-of-entries" })));
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

  it.each([
    ["listTokens", "tokens", "token_id"],
    ["listActions", "actions", "action_id"],
    ["listCases", "cases", "case_id"],
    ["listApprovals", "approvals", "approval_id"],
    ["listSessions", "sessions", "session_id"],
    ["listAdminTokens", "tokens", "token_id"],
  ] as const)("pages through %s without a gap, also within a millisecond", async (id, member, name) => {
    const { pool } = scene.system;
    await pool.query(
      `insert into session_token (token_id, token_hash, account, issued_at, expires_at)
        select gen_random_uuid(), decode(md5(n::text), 'hex'), 'paged', '2026-01-01', '2999-01-31' from generate_series(1, 5) n
        on conflict do nothing`,
    );
    const ids = async (): Promise<string[]> => {
      const client = await listener.client(["operator", "auditor"]);
      const found: string[] = [];
      let after: string | null = null;
      do {
        const page = (await client.call(id, { limit: 2, ...(after !== null && { after }) })) as unknown as Paged;
        found.push(...(page[member] as Record<string, string>[]).map((row) => row[name] ?? ""));
        expect(page[member]?.length).toBeLessThanOrEqual(2);
        after = page.next;
      } while (after !== null);
      return found;
    };
    const client = await listener.client(["operator", "auditor"]);
    const all = (await client.call(id, { limit: 1_000 })) as unknown as Paged;
    // The list of tokens contains the caller's own token.
    const known = (all[member] as Record<string, string>[]).map((row) => row[name] ?? "");
    expect((await ids()).filter((one) => known.includes(one))).toEqual(known);
    for (const after of [
      "x",
      "WyJ4Il0",
      Buffer.from('["2026-01-01T00:00:00.000Z","x\\u0000"]').toString("base64url"),
    ]) {
      await expect(client.call(id, { after })).rejects.toMatchObject({ code: "request-invalid" });
    }
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

  it("pages through events without a gap", async () => {
    const account = "customer-of-pages";
    const stored = [];
    for (let index = 0; index < 5; index++) stored.push(await past.store(index, { account }));
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
    const ios = await past.store(1, { account, platform: "ios", sessionId: "session-9" });
    const android = await past.store(2, { account });
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
  it("is audited before it is answered, with person, roles and way", async () => {
    const client = await listener.client(["investigator"], { person: "audited" });
    const read = { event_id: event.eventId, reason: "dispute 4711", category: "dispute", ticket: "T-1" } as const;
    await client.call("readExactEvent", read);
    await client.call("listEvents", { account: "customer-1" });
    await client.call("readEvent", { event_id: event.eventId });
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
      event_id: event.eventId,
      reason: "dispute 4711",
      category: "dispute",
      ticket: "T-1",
    });
  });

  it("reports no error if a caller made a mistake", () => {
    expect(listener.errors).toEqual([]);
  });
});
