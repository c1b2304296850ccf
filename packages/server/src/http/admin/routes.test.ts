/** Tests of every route of the admin API with every role and without credentials, and of the pages of lists. */
import { beforeAll, describe, expect, it } from "vitest";
import { type Role, ROLE_NAMES, ROUTE_IDS, type RouteId, routeOf, scopeOf } from "@device-risk-signals/admin-api";
import { requestOf } from "@device-risk-signals/admin-api/client";
import { bundleOf } from "../../../../features/src/bundle.fixture.ts";
import { send } from "../../../../../e2e/support/client.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";
import { NO_ID, useStoredEvent } from "./stored-event.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);
const setUp = useStoredEvent(scene);
let investigated: string;

beforeAll(async () => {
  const investigator = await listener.client(["investigator"]);
  const of = { account: "customer-1", category: "dispute", reason: "dispute 4711" } as const;
  investigated = (await investigator.call("openCase", of)).case_id;
});

interface Paged extends Readonly<Record<string, readonly object[] | string | null | undefined>> {
  readonly next: string | null;
}

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
/** An input for each route. If the caller has the permission, the answer is a success, 404 or 409. */
const inputs = (): Readonly<Record<RouteId, Record<string, unknown>>> => ({
  readSession: {},
  signOut: {},
  listSessions: {},
  revokeSession: { session_id: NO_ID },
  revokeSessionsOf: { person: "no-one" },
  readHealth: {},
  readConfiguration: {},
  listEvents: {},
  readEvent: { event_id: setUp.event.eventId },
  readObservations: { event_id: setUp.event.eventId, reason: "dispute 4711", category: "dispute" },
  compareEvents: {
    event_id: setUp.event.eventId,
    other_event_id: setUp.event.eventId,
    reason: "dispute 4711",
    category: "dispute",
  },
  readExactEvent: { event_id: setUp.event.eventId, reason: "dispute 4711", category: "dispute" },
  openCase: { account: "customer-1", reason: "dispute 4711", category: "dispute" },
  listCases: {},
  closeCase: { case_id: NO_ID },
  listApprovals: {},
  readApproval: { approval_id: NO_ID },
  approve: { approval_id: NO_ID },
  withdrawApproval: { approval_id: NO_ID },
  deny: { approval_id: NO_ID },
  listAudit: {},
  reviewReads: {},
  exportAudit: {},
  readProof: { entry_id: NO_ID },
  signCheckpoint: {},
  readAuditKey: {},
  startVerification: {},
  readVerification: { verification_id: NO_ID },
  listReviews: {},
  openReview: { entry_id: NO_ID, reason: "review 4711" },
  closeReview: { review_id: NO_ID, reason: "review 4711" },
  listAdminTokens: {},
  issueAdminToken: { person: "j.doe", roles: ["auditor"], ttl_ms: 1_000 },
  revokeAdminToken: { token_id: NO_ID },
  revokeAdminTokensOf: { person: "no-one" },
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
  proposeFeatures: { bundles: [bundleOf("({ su }) => su.value ?? null")], reason: "review 4711", dry_run: true },
  recordEquivalence: { bundles: [bundleOf("({ su }) => su.value ?? null")], reason: "review 4711", dry_run: true },
  adoptFeatures: { features: ["none@1"], purpose: "default", reason: "review 4711" },
  retireFeatures: { features: ["none@1"], purpose: "default", reason: "review 4711" },
  listFeatureDecisions: {},
  readLayers: {},
  startBackfill: { purpose: "default", reason: "review 4711" },
  listBackfills: {},
  pauseBackfill: { run_id: NO_ID },
  resumeBackfill: { run_id: NO_ID },
  cancelBackfill: { run_id: NO_ID },
  readFeatures: { event_id: setUp.event.eventId },
  explainFeature: { event_id: setUp.event.eventId, feature: "none" },
  verifyFeatures: { event_id: setUp.event.eventId },
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
  readTimeline: { account: "customer-1", idempotency_key: setUp.event.idempotencyKey },
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
    // An admin token with any roles can't decide about an approval.
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

describe("what the admin API lists", () => {
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
});

describe("what is done through the admin API", () => {
  it("does not log mistakes of callers as errors", () => {
    expect(listener.errors).toEqual([]);
  });
});
