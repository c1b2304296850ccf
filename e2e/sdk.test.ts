/**
 * Tests of the whole path of an event: the SDK collects it on a mock phone, the host client sends it, and the endpoint
 * stores it.
 */
import { createSignalClient } from "@device-risk-signals/host-client";
import { sampleEvent, SCENARIOS } from "@device-risk-signals/react-native/jest";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { type Credentials, issueCredentials, runDrs, type ServerProcess, startServer } from "./support/server.ts";

let database: TestDatabase;
let environment: Record<string, string>;
let server: ServerProcess;
let who: Credentials;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  who = await issueCredentials(environment, "sdk");
  server = await startServer({ ...environment, DRS_THROTTLE_RATE: "0" });
});

afterAll(async () => {
  await server.stop();
  await database.close();
});

function clientFor(platform: "android" | "ios") {
  return createSignalClient({
    baseUrl: server.url,
    fetch,
    token: () => Promise.resolve(who.token),
    sdkVersion: "0.1.0",
    platform,
    appVersion: "1.0",
  });
}

describe.each(["android", "ios"] as const)("an event of every probe that the SDK collects on %s", (platform) => {
  it("is stored once, and is read back byte for byte", async () => {
    const event = await sampleEvent({ scenario: `full-${platform}`, seed: 1 });
    const client = clientFor(platform);
    const sending = { action: { id: who.actionId, type: who.actionType }, event };
    const stored = await client.send(sending);
    expect(stored).toMatchObject({ outcome: "stored", attempts: 1 });
    const again = await client.send(sending);
    if (stored.outcome !== "stored") throw new Error("not stored");
    expect(again).toEqual({ outcome: "replayed", eventId: stored.eventId, attempts: 1 });
    const { stdout } = await runDrs(environment, ["event", "get", stored.eventId, "--raw", "--reason", "test"]);
    expect(String(stdout)).toBe(JSON.stringify(event));
  });
});

it.each(SCENARIOS)("the endpoint accepts the event of the scenario %s", async (scenario) => {
  const event = await sampleEvent({ scenario });
  const platform = scenario.endsWith("ios") ? "ios" : "android";
  const result = await clientFor(platform).send({ action: { id: who.actionId, type: who.actionType }, event });
  expect(result).toMatchObject({ outcome: "stored" });
});

it("no scenario has a field that the catalog lacks, and the server counts such fields", async () => {
  const event = await sampleEvent({ scenario: "clean-android" });
  const probes = { ...event.probes, fonts: { status: "success", data: { fontsDigest: "d", fontCount: 7 } } };
  const odd = { ...event, probes } as unknown as typeof event;
  const result = await clientFor("android").send({ action: { id: who.actionId, type: who.actionType }, event: odd });
  expect(result).toMatchObject({ outcome: "stored" });
  // A server writes its counts when it stops, if not before.
  await server.stop();
  const { stdout, code } = await runDrs(environment, ["drift", "list", "--json"]);
  expect(code).toBe(0);
  const drift = String(stdout)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { path: string });
  expect(drift.map(({ path }) => path)).toEqual(["fonts.fontCount"]);
});
