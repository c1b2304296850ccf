/** Tests that the audit log records who did what, and counts unauthenticated requests. */
import { Agent } from "node:http";
import { describe, expect, test } from "vitest";
import { freshKey, send, transport } from "../support/client.ts";
import { runWithBreakGlass, objects } from "../support/command.ts";
import { issueCredentials, PROCESSES } from "../support/server.ts";
import { post, ServerScene } from "../support/server-scene.ts";

const scene = new ServerScene();
const { serve, stage } = scene;

describe("the audit", () => {
  interface Entry {
    readonly actor: string;
    readonly operation: string;
    readonly outcome: string;
    readonly account: string | null;
    readonly event_id: string | null;
    readonly occurrences: number;
    readonly reason: string | null;
    readonly detail: Record<string, unknown> | null;
  }

  const auditOf = async (environment: Record<string, string>, ...filter: string[]): Promise<Entry[]> =>
    objects<Entry>((await runWithBreakGlass(environment, "audit", "list", "--limit", "0", "--json", ...filter)).stdout);

  test("records who did what about which account or event, with which outcome", async () => {
    const environment = { ...(await scene.environment()), DRS_SESSION_BINDING: "record" };
    const who = await issueCredentials(environment, "audited");
    const server = await serve(environment);
    const key = freshKey();
    const body = JSON.stringify(transport(who));
    const eventId = (await post(server, who, key, body)).json["event_id"] as string;
    expect((await post(server, who, key, body)).status).toBe(200);
    expect((await post(server, who, key, body.replace("unreadable", "x"))).status).toBe(409);
    expect((await post(server, who, freshKey(), "{")).status).toBe(400);
    expect((await post(server, { ...who, actionId: "unknown" })).status).toBe(403);
    const mismatch = await post(server, { ...who, sessionId: "another" });
    expect(mismatch.status).toBe(201);
    const read = await runWithBreakGlass(environment, "event", "get", eventId, "--raw", "--reason", "dispute 4711");
    expect(read.code).toBe(0);
    await server.stop();

    const entries = await auditOf(environment, "--account", "audited");
    const made = entries.filter(({ operation }) => operation === "event.create");
    const other = mismatch.json["event_id"] as string;
    expect(made.map(({ outcome, event_id }) => `${outcome} ${event_id}`).toSorted()).toEqual([
      `accepted ${eventId}`,
      `accepted ${other}`,
      "action-refused null",
      `idempotency-conflict ${eventId}`,
      `replayed ${eventId}`,
      `session-mismatch ${other}`,
      "text-invalid null",
    ]);
    const refused = made.find(({ outcome }) => outcome === "action-refused");
    expect(refused?.detail, "why, which the client did not learn").toEqual({ cause: "unknown" });
    for (const entry of made) expect(entry).toMatchObject({ actor: "endpoint", account: "audited", occurrences: 1 });
    for (const operation of ["token.issue", "action.register", "event.read_raw"]) {
      const found = entries.filter((entry) => entry.operation === operation);
      expect(found).toMatchObject([{ actor: expect.stringMatching(/^cli:\S/) as string, outcome: "done" }]);
    }
    expect(entries.find(({ operation }) => operation === "event.read_raw")).toMatchObject({
      event_id: eventId,
      reason: "dispute 4711",
    });
    expect((await auditOf(environment, "--event", eventId)).map(({ outcome }) => outcome).toSorted()).toEqual(
      ["accepted", "done", "idempotency-conflict", "replayed"].toSorted(),
    );
    expect(await auditOf(environment, "--account", "unknown")).toEqual([]);
  });

  test("counts a flood of requests without an account once a minute, with their sources", async () => {
    const { server, environment, who } = await stage({ DRS_TRUSTED_PROXY_HOPS: "1" });
    const started = Date.now();
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const SENT = 3_000;
    await Promise.all(
      Array.from({ length: SENT }, (_, n) => {
        const headers = {
          "X-Forwarded-For": `192.0.2.${n % 256}`,
          ...(n % 3 && { Authorization: `Bearer drs_${String(n).padStart(43, "x")}` }),
        };
        return send({ url: server.url, headers, agent });
      }),
    );
    agent.destroy();
    expect((await post(server, who)).status).toBe(201);
    const minutes = Math.ceil((Date.now() - started) / 60_000);
    await server.stop();

    const flood = (await auditOf(environment)).filter(({ account, operation }) => {
      return account === null && operation === "event.create";
    });
    expect(flood.reduce((sum, { occurrences }) => sum + occurrences, 0)).toBe(SENT);
    for (const outcome of ["credentials-missing", "credentials-invalid", "too-many-failures"]) {
      const entries = flood.filter((entry) => entry.outcome === outcome);
      expect(entries.length, outcome).toBeLessThanOrEqual(minutes * PROCESSES);
    }
    expect(flood.length).toBeGreaterThan(0);
    for (const { detail } of flood) {
      const sources = detail?.["sources"] as Record<string, number>;
      expect(Object.keys(sources).length).toBeLessThanOrEqual(100);
      expect(Object.keys(sources)[0]).toMatch(/^192\.0\.2\.\d+$/);
    }
  });
});
