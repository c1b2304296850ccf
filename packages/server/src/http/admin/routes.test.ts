/** Tests of every route of the admin API with every role and without credentials, and of the pages of lists. */
import { beforeAll, describe, expect, it } from "vitest";
import {
  CALLS,
  type Role,
  ROLE_NAMES,
  type Route,
  ROUTE_IDS,
  type RouteId,
  routeOf,
  scopeOf,
} from "@device-risk-signals/admin-api";
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
/** Values of required members, by name, unless any value of the schema has the same effect. */
const values = (): Readonly<Record<string, unknown>> => ({
  account: "customer-1",
  after: "none@2",
  at: new Date().toISOString(),
  before: "none@1",
  bundles: [bundleOf("({ su }) => su.value ?? null")],
  event_id: setUp.event.eventId,
  event_ids: [NO_ID],
  feature: "none@1",
  features: ["none@1"],
  idempotency_key: setUp.event.idempotencyKey,
  informed_on: "2026-01-31",
  labels: { format: "csv", text: "account,label_time,label\n" },
  other_event_id: setUp.event.eventId,
  path: "fonts.novel",
  policy: POLICY,
  purpose: "default",
  reason: "dispute 4711",
  roles: ["auditor"],
});

const READ_OF_OBSERVATIONS = { reason: "dispute 4711", category: "dispute" };

/** What a route needs in addition to its required members. */
const also = (): Readonly<Partial<Record<RouteId, Record<string, unknown>>>> => ({
  readObservations: READ_OF_OBSERVATIONS,
  compareEvents: READ_OF_OBSERVATIONS,
  readExactEvent: READ_OF_OBSERVATIONS,
  openCase: { account: "customer-1" },
  applyPolicy: { dry_run: true },
  proposeFeatures: { dry_run: true },
  recordEquivalence: { dry_run: true },
  readFeatures: { event_id: setUp.event.eventId },
  verifyFeatures: { event_id: setUp.event.eventId },
  exportFeatures: { clock: "known" },
  planExport: { clock: "known" },
  exportEvents: { case_id: investigated, account: "customer-1" },
  addHold: { event_id: NO_ID },
  addRestriction: { account: "unknown", approver: "J. Doe" },
  exportAccount: { request_id: NO_ID },
  planErasure: { account: "customer-1" },
  runErasure: { account: "customer-1", dry_run: true },
});

function valueOf({ enum: words, minimum, pattern, format }: Shape): unknown {
  if (words || minimum !== undefined) return words?.[0] ?? minimum;
  if (format === "date") return "2999-01-31";
  return pattern?.includes("{12}") ? NO_ID : "unknown";
}

interface Shape {
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly pattern?: string;
  readonly format?: string;
}

/** An input of the route. If the caller has the permission, the answer is a success, 404 or 409. */
function inputOf(id: RouteId): Record<string, unknown> {
  const { params, query, body }: Route = routeOf(id);
  const required = [params, query, body].flatMap((part) =>
    (part?.required ?? []).map((name) => [name, values()[name] ?? valueOf(part?.properties[name] as Shape)]),
  );
  return { ...Object.fromEntries(required), ...also()[id] };
}

async function call(id: RouteId, authorization: string | undefined): Promise<number> {
  const { method } = routeOf(id);
  const { target, body } = requestOf(CALLS[id], inputOf(id));
  const headers = { Authorization: authorization, ...(body !== undefined && { "Content-Type": "application/json" }) };
  const reply = await send({ url: listener.url, method, path: target, headers, ...(body && { body }) });
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
    const { target } = requestOf(CALLS[id], inputOf(id));
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
