/** Tests of SIGTERM: accepted requests get their answers, and new requests a 503. */
import { Agent } from "node:http";
import { describe, expect, test } from "vitest";
import { authorized, type Reply, send, transport } from "../support/client.ts";
import { runWithBreakGlass, objects } from "../support/command.ts";
import { until } from "../support/embedded.ts";
import { expectRetryLater, get, inFlight, post, ServerScene } from "../support/server-scene.ts";
import { SlowRequest } from "../support/slow-request.ts";

const { stage } = new ServerScene();

describe("a server that gets SIGTERM", () => {
  test("answers accepted requests, rejects new ones, then exits with code 0", async () => {
    const { server, who, environment } = await stage();
    const keepAlive = new Agent({ keepAlive: true });
    const onIdleConnection = (): Promise<Reply> =>
      send({ url: server.url, headers: authorized(who), body: JSON.stringify(transport(who)), agent: keepAlive });
    expect((await onIdleConnection()).status).toBe(201);
    const slow = new SlowRequest(server, who);
    await until(async () => (await inFlight(server)) === 1);

    const ended = server.stop();
    await until(async () => (await get(server.adminUrl, "/readyz")).status === 503);
    expect((await get(server.adminUrl, "/readyz")).text).toContain("draining");
    expect((await get(server.adminUrl, "/livez")).status).toBe(200);
    expectRetryLater(await post(server, who), 503, "draining");
    expectRetryLater(await onIdleConnection(), 503, "draining");

    const answer = await slow.finish();
    expect(answer.status, answer.text).toBe(201);
    const finished = Date.now();
    expect(await ended).toBe(0);
    expect(Date.now() - finished).toBeLessThan(2_500);
    keepAlive.destroy();
    await expect(post(server, who)).rejects.toThrow("ECONNREFUSED");

    const { stdout } = await runWithBreakGlass(environment, "event", "list", "--json");
    expect(objects(stdout)).toHaveLength(2);
    expect(objects(stdout)[0]).toMatchObject({ event_id: answer.json["event_id"] });
    const audit = objects((await runWithBreakGlass(environment, "audit", "list", "--account", "who", "--json")).stdout);
    // Counts are written every second, so they are in one entry or in two.
    const draining = audit.filter(({ outcome }) => outcome === "draining");
    expect(draining.reduce((sum, { occurrences }) => sum + Number(occurrences), 0)).toBe(2);
  });

  test("waits no longer than configured for a client that does not finish", async () => {
    const { server, who, environment } = await stage({ DRS_DRAIN_TIMEOUT: "1s" });
    const slow = new SlowRequest(server, who);
    await until(async () => (await inFlight(server)) === 1);
    const started = Date.now();
    expect(await server.stop()).toBe(0);
    expect(Date.now() - started).toBeGreaterThanOrEqual(1_000);
    expect(Date.now() - started).toBeLessThan(4_000);
    await expect(slow.reply).rejects.toThrow();
    expect((await runWithBreakGlass(environment, "event", "list", "--json")).stdout).toBe("");
    expect(server.stderr()).not.toContain('"error"');
  });
});
