/**
 * Sends requests of any shape, generated from the data of `packages/admin-api`. The OpenAPI document must allow each
 * answer.
 */
import { basename } from "node:path";
import fc from "fast-check";
import type { TSchema } from "typebox";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CALLS, type Route, ROUTE_IDS, type RouteId, routeOf, ROLE_NAMES } from "@device-risk-signals/admin-api";
import { requestOf } from "@device-risk-signals/admin-api/client";
import { adminOpenApiDocument } from "@device-risk-signals/admin-api/openapi";
import { type Reply, send } from "../../../../../e2e/support/client.ts";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import { rounds } from "../../../../../e2e/support/soak.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);
let past: Past;
let event: PastEvent;

beforeAll(async () => {
  past = new Past(scene.system);
  event = await past.store(0, { account: "customer-1" });
});
afterAll(() => past?.close());

/** A text in the requests. No rejection may contain it. */
const MARKER = "zq7marker";

/** Texts that cause errors in code that does not escape them. */
const HOSTILE: readonly string[] = [
  `${MARKER}' or '1'='1`,
  `'; drop table drs.event; --${MARKER}`,
  `$1${MARKER}$$`,
  `%_\\${MARKER}`,
  `${MARKER}\u0000`,
  `\u001b]0;${MARKER}\u0007\u202e`,
  `=cmd|'${MARKER}'!A1`,
  `../../${MARKER}`,
  `<script>${MARKER}</script>`,
  `{"$ref": "${MARKER}"}`,
  MARKER.repeat(130),
  "",
  "__proto__",
];
const hostileText = fc.constantFrom(...HOSTILE);
const anything: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(null, true, -1, 0, 1.5, 1e308, "2026-02-30", "2999-01-31T00:00:00Z", [], {}),
  fc.array(hostileText, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom("__proto__", "constructor", "a"), hostileText, { maxKeys: 2, noNullPrototype: true }),
  fc.uuid(),
);

interface Shape {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
}

/** A value that the schema allows, or almost allows. */
function valueOfSchema(name: string, schema: TSchema): fc.Arbitrary<unknown> {
  const { type, enum: words, pattern = "", format } = schema as Shape;
  if (words) return fc.constantFrom(...words);
  if (name === "event_id" || name === "other_event_id") return fc.constant(event.eventId);
  if (name === "account") return fc.constantFrom("customer-1", "another");
  if (name === "reason") return fc.constant("dispute 4711");
  if (pattern.includes("{12}")) return fc.uuid();
  if (format === "date-time")
    return fc.constantFrom(
      "2026-01-31T00:00:00Z",
      "2999-01-31T00:00:00Z",
      "0000-01-01T00:00:00Z",
      "2026-12-31T23:59:60Z",
    );
  if (format === "date") return fc.constantFrom("2026-01-31", "2999-01-31");
  if (type === "boolean") return fc.boolean();
  if (type === "integer") return fc.integer({ min: 1, max: 1_000 });
  return fc.oneof(fc.string({ minLength: 1, maxLength: 20 }), hostileText);
}

function partOf(schema: Route["body"], isHostile: boolean): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.entries(schema?.properties ?? {}).map(([name, of]) => {
    const value = isHostile
      ? fc.oneof({ weight: 2, arbitrary: valueOfSchema(name, of) }, anything)
      : valueOfSchema(name, of);
    return [name, value] as const;
  });
  const requiredKeys = isHostile ? [] : [...(schema?.required ?? [])];
  return fc.record(Object.fromEntries(members), { requiredKeys });
}

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  {},
  {},
  {},
  { "Content-Type": "text/plain" },
  { "Content-Type": "application/json; charset=utf-16" },
  { Range: "bytes=0-1" },
  { "If-None-Match": "*" },
  { "X-HTTP-Method-Override": "DELETE", "X-Forwarded-Host": MARKER },
  { "Accept-Encoding": MARKER, Cookie: `a=${MARKER}` },
];

const requestsTo = (route: Route): fc.Arbitrary<{ input: Record<string, unknown>; headers: Record<string, string> }> =>
  fc.boolean().chain((isHostile) =>
    fc.record({
      input: fc
        .tuple(partOf(route.params, isHostile), partOf(route.query, isHostile), partOf(route.body, isHostile))
        .map(([params, query, body]) => ({ ...query, ...body, ...params })),
      headers: fc.constantFrom(...HEADERS).map((headers) => ({ ...headers })),
    }),
  );

interface Answers {
  readonly content: object;
}
const DOCUMENT = adminOpenApiDocument("0.0.0") as {
  readonly paths: Record<string, Record<string, { responses: Record<string, Answers | { readonly $ref: string }> }>>;
  readonly components: { readonly responses: Readonly<Record<string, Answers>> };
};

const contentOf = (answers: Answers | { readonly $ref: string }): object =>
  "$ref" in answers ? (DOCUMENT.components.responses[basename(answers.$ref)]?.content ?? {}) : answers.content;

function statusesOf(route: Route): ReadonlyMap<string, readonly string[]> {
  const { responses } = DOCUMENT.paths[`/admin/v1${route.path}`]?.[route.method.toLowerCase()] ?? { responses: {} };
  return new Map(Object.entries(responses).map(([status, answers]) => [status, Object.keys(contentOf(answers))]));
}

/** The test uses tokens of several people, because one person may send 50 requests per second. */
let requestCount = 0;
const tokens: Promise<string>[] = [];
function nextToken(): Promise<string> {
  const number = Math.floor(requestCount++ / 40);
  return (tokens[number] ??= listener.token(ROLE_NAMES, { person: `fuzzer-${number}` }));
}

async function call(id: RouteId, input: Record<string, unknown>, headers: Record<string, string>): Promise<Reply> {
  const { target, body } = requestOf(CALLS[id], { ...input });
  return send({
    url: listener.url,
    method: CALLS[id].method,
    path: target,
    headers: {
      Authorization: `Bearer ${await nextToken()}`,
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
}

it.each(ROUTE_IDS)(
  "%s answers requests of any shape as its document says, and repeats no value",
  async (id: RouteId) => {
    const route = routeOf(id);
    const documented = statusesOf(route);
    await fc.assert(
      fc.asyncProperty(requestsTo(route), async ({ input, headers }) => {
        const reply = await call(id, input, headers);
        const types = documented.get(String(reply.status));
        expect([reply.status, types !== undefined], reply.text).toEqual([reply.status, true]);
        expect(reply.status, reply.text).toBeLessThan(500);
        expect(types?.some((type) => reply.headers["content-type"]?.startsWith(type))).toBe(true);
        if (reply.status >= 400) expect(reply.text).not.toContain(MARKER);
      }),
      { numRuns: rounds(6, 300) },
    );
  },
);

it("the answer to a path that the router rejects is a problem that does not repeat the path", async () => {
  for (const path of [`/admin/v1/keys/${MARKER.repeat(130)}/destroy`, `/admin/v1/events/%${MARKER}`]) {
    const reply = await send({ url: listener.url, path, headers: { Authorization: `Bearer ${await nextToken()}` } });
    expect(reply.status).toBe(400);
    expect(reply.headers["content-type"]).toContain("application/problem+json");
    expect(reply.headers["cache-control"]).toBe("no-store");
    expect(reply.text).not.toContain(MARKER);
  }
});

it("none of these requests causes an error of the server", () => {
  expect(listener.errors).toEqual([]);
});
