/** Tests that every host that embeds the endpoint must pass, over real HTTP and on a real PostgreSQL. */
import { Agent } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authorized, freshKey, type Post, type Reply, send } from "../../../e2e/support/client.ts";
import type { TestDatabase } from "../../../e2e/support/database.ts";
import { openTestSystem } from "../../../e2e/support/parties.ts";
import type { System } from "../../../packages/server/src/runtime/system.ts";
import { listAudit } from "../../../packages/server/src/audit/audit.ts";
import { findEvent } from "../../../packages/server/src/store/events/read-events.ts";
import { CUSTOMER, PAYMENT } from "./host.ts";
import type { RunningHost, StartHost } from "./running-host.ts";

const REQUEST_HEADERS = { ...CUSTOMER, ...PAYMENT };

export interface Embedding {
  readonly start: StartHost;
  /**
   * Which of several `Authorization` headers the endpoint receives. Next reads `headers` of `node:http`, which has only
   * the first one.
   */
  readonly authorizations: "all" | "first";
}

export function embeddingContract({ start, authorizations }: Embedding, database: () => TestDatabase): void {
  let host: RunningHost;
  let system: System;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= host.close());

  beforeAll(async () => {
    const environment = await database().environment();
    host = await start(environment);
    system = await openTestSystem(environment);
  });

  afterAll(async () => {
    await close();
    await system.close();
  });

  const post = (body: string | Uint8Array, headers: Post["headers"] = {}, agent?: Agent): Promise<Reply> =>
    send({ url: host.url, headers: { ...authorized(REQUEST_HEADERS), ...headers }, body, ...(agent && { agent }) });

  /** The exact bytes of the event that the answer names. */
  async function stored(answer: Reply): Promise<string> {
    expect(answer.status, answer.text).toBe(201);
    const event = await findEvent(system.pool, answer.json["event_id"] as string);
    if (!event) throw new Error("the event is not there");
    expect(event.account).toBe(CUSTOMER.account);
    return (await system.sealer.open(event, event.sealedUnder, event.payload)).toString();
  }

  test("answers 201 and keeps the exact bytes", async () => {
    const event = rawEvent();
    expect(await stored(await post(requestOf(event)))).toBe(event);
  });

  test("accepts a gzip body, still compressed", async () => {
    const event = rawEvent();
    const headers = { "Content-Encoding": "gzip" };
    expect(await stored(await post(gzipSync(requestOf(event)), headers))).toBe(event);
  });

  test("answers 200 for a retry and 409 for another event under the same idempotency key", async () => {
    const headers = { "Idempotency-Key": freshKey() };
    const body = requestOf(rawEvent());
    const first = await post(body, headers);
    const retry = await post(body, headers);
    expect(retry.status).toBe(200);
    expect(retry.headers["idempotency-replayed"]).toBe("true");
    expect(retry.json).toEqual({ event_id: first.json["event_id"], created: false });
    expectProblem(await post(body.replace('"1.2.3"', '"1.2.4"'), headers), 409);
  });

  test("answers 401 without credentials and for a session that the host does not know", async () => {
    const none = await post(requestOf(rawEvent()), { Authorization: undefined });
    expectProblem(none, 401);
    expect(none.headers["www-authenticate"]).toBe("Bearer");
    const unknown = await post(requestOf(rawEvent()), { Authorization: "Bearer not-a-session" });
    expectProblem(unknown, 401);
    expect(unknown.headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
  });

  test("answers 403 for an action that the host has not started", async () => {
    expectProblem(await post(requestOf(rawEvent(), "another-action")), 403);
  });

  test.each(["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])("answers 405 for %s", async (method) => {
    const answer = await send({ url: host.url, method, headers: authorized(REQUEST_HEADERS) });
    expectProblem(answer, 405);
    expect(answer.headers["allow"]).toBe("POST");
  });

  test.each([300_000, 3_000_000])("answers 400 for a body of %d bytes and serves the next request", async (size) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expectProblem(await post("x".repeat(size), {}, agent), 400);
    expectProblem(await post("x".repeat(size), { Authorization: undefined }, agent), 401);
    expect((await post(requestOf(rawEvent()), {}, agent)).status).toBe(201);
    agent.destroy();
  });

  test("answers 400 for two Idempotency-Key headers", async () => {
    expectProblem(await post(requestOf(rawEvent()), { "Idempotency-Key": [freshKey(), freshKey()] }), 400);
  });

  test("rejects two Authorization headers if the host passes both on", async () => {
    const headers = { Authorization: [`Bearer ${CUSTOMER.token}`, "Bearer not-a-session"] };
    const answer = await post(requestOf(rawEvent()), headers);
    expect(answer.status, answer.text).toBe(authorizations === "all" ? 401 : 201);
  });

  test("closes only after every accepted event is written", async () => {
    const headers = { "Idempotency-Key": freshKey() };
    const body = requestOf(rawEvent());
    const { event_id } = (await post(body, headers)).json;
    expect((await post(body, headers)).status).toBe(200);
    await close();
    await expect(post(body, headers)).rejects.toThrow("ECONNREFUSED");
    const audit = await listAudit(system.pool, () => system.secrets, { eventId: event_id as string, limit: 10 });
    expect(audit.map(({ outcome }) => outcome)).toContain("replayed");
  });
}

function expectProblem(answer: Reply, status: number): void {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers["content-type"]).toBe("application/problem+json");
}

/** Makes an event whose white space, numbers and escapes would change if the event were parsed and serialised. */
function rawEvent(): string {
  return String.raw`{ "session_id": "${CUSTOMER.sessionId}",
    "event_type":"device_intel_collection", "schema_version":1.0, "collected_at":"${new Date().toISOString()}",
    "probes" : {"os_integrity":{"status":"success","data":{"n":12345678901234567890,"x":1.230e-5,"s":"\u00e9é"}}}}`;
}

function requestOf(event: string, actionId: string = PAYMENT.actionId): string {
  const { actionType } = PAYMENT;
  return `{"action_id":"${actionId}","action_type":"${actionType}","sdk_version":"1.2.3","platform":"ios","observations":${event}}`;
}
