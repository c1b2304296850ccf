/**
 * Tests of features through the command line and HTTP: with workers that are killed, and with events whose fields have
 * wrong types.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAdminClient } from "@device-risk-signals/admin-api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleOf } from "../packages/features/src/bundle.fixture.ts";
import { objects, remoteEnvironment, runWithBreakGlass } from "./support/command.ts";
import { authorized, send, transport } from "./support/client.ts";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";
import { until } from "./support/embedded.ts";
import { type Credentials, issueCredentials, type ServerProcess, spawnDrs, startServer } from "./support/server.ts";
import { fullRounds } from "./support/soak.ts";

const KILLS = fullRounds(3, 100);
const WORKERS = fullRounds(2, 3);
const EVENTS_A_ROUND = 8;
/** The number of kills per erasure of an account. */
const KILLS_PER_ERASURE = fullRounds(3, 2);

let database: TestDatabase;
let environment: Record<string, string>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let servers: readonly ServerProcess[] = [];
let who: Credentials;

const drs = (...args: readonly string[]) => runWithBreakGlass(environment, "feature", ...args);

beforeAll(async () => {
  folder = await temporaryFolder();
  database = await sharedDatabase();
  const settings = { DRS_THROTTLE_RATE: "0", DRS_FEATURE_WORKER: "false", DRS_ERASURE_JOURNAL: folder.path };
  environment = { ...(await database.environment()), ...settings };
  servers = await Promise.all([startServer(environment), startServer(environment)]);
  who = await issueCredentials(environment);
  const bundles = join(folder.path, "bundles.json");
  const purposes = ["default"];
  const inputs = [
    { name: "emulator", path: ["os_integrity", "isEmulator"], type: "boolean", sensitivity: "low" },
  ] as const;
  const compute = "({ emulator }) => { if (emulator.state === 'observed') throw emulator; return null; }";
  const throwing = bundleOf(compute, { id: "throwing", purposes, inputs });
  await writeFile(bundles, JSON.stringify([bundleOf("({ su }) => su.value ?? null", { purposes }), throwing]));
  expect(await drs("propose", bundles, "--reason", "review 4711")).toMatchObject({ code: 0, stderr: "" });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await database.close();
  await folder.remove();
});

const decisionArgs = ["example@1", "--purpose", "default", "--reason", "review 4711"];

async function post(
  server: ServerProcess | undefined,
  data: object = {},
  by = who,
): Promise<{ status: number; eventId: string }> {
  const body = transport(by);
  const probes = { os_integrity: { status: "success", data: { ...REQUIRED, ...data } } };
  const text = JSON.stringify({ ...body, observations: { ...body.observations, probes } });
  const { status, json } = await send({ url: server?.url ?? "", headers: authorized(by), body: text });
  return { status, eventId: String(json["event_id"]) };
}
const REQUIRED = { isEmulator: false, isDebuggerAttached: false, developerModeEnabled: false };

test("a manifest that lowers the sensitivity of a field is not archived", async () => {
  const inputs = [
    { name: "su", path: ["os_integrity", "suBinaryFound"], type: "boolean", sensitivity: "low" },
  ] as const;
  const file = join(folder.path, "lowered.json");
  await writeFile(file, JSON.stringify([bundleOf("() => true", { id: "lowered", inputs })]));
  const { code, stderr } = await drs("propose", file, "--reason", "review 4711");
  expect(code).toBe(1);
  expect(stderr).toContain("Manifest 1 is not as the catalog and the accepted fields say.");
});

test.each([
  ["takes very long to lint", "({ su }) => /^(a|aa)+$/.test(su.state)", "backtrack too often"],
  ["ends the parser's process", `() => ${"(".repeat(20_000)}true${")".repeat(20_000)}`, "the lint can't read"],
])("a program that %s is rejected in time, and the server answers events meanwhile", async (_, compute, finding) => {
  const [server] = servers;
  const admin = await remoteEnvironment(environment, server?.adminUrl ?? "", ["analyst"]);
  const analyst = createAdminClient({ url: admin["DRS_ADMIN_URL"] ?? "", token: admin["DRS_ADMIN_TOKEN"] ?? "" });
  const bundles = [bundleOf(compute, { purposes: ["default"] })];
  const proposal = { isPending: true };
  const begun = performance.now();
  const proposed = analyst
    .call("proposeFeatures", { bundles, reason: "review 4712", dry_run: true })
    .then(String, String)
    .finally(() => (proposal.isPending = false));
  const delays: number[] = [];
  while (proposal.isPending) {
    const posted = performance.now();
    expect((await post(server)).status).toBe(201);
    delays.push(performance.now() - posted);
  }
  expect(await proposed).toContain(finding);
  // About a second on a machine that does nothing else.
  expect(performance.now() - begun).toBeLessThan(10_000);
  expect(Math.max(...delays)).toBeLessThan(1_000);
  expect((await post(server)).status).toBe(201);
});

/** The ids of events with a wrong type that were stored before any adoption. */
const olderEventIds: string[] = [];

test("a wrong type is rejected by every server within 2 s of the adoption, until the features are retired", async () => {
  const postWrong = () => Promise.all(servers.map((server) => post(server, { suBinaryFound: "yes" })));
  const answers = async (): Promise<number[]> => (await postWrong()).map(({ status }) => status);
  const before = await postWrong();
  expect(before.map(({ status }) => status)).toEqual([201, 201]);
  olderEventIds.push(...before.map(({ eventId }) => eventId));
  expect((await drs("adopt", ...decisionArgs)).stderr).toContain("--accept-refusals");
  expect(await drs("adopt", ...decisionArgs, "--accept-refusals")).toMatchObject({ code: 0, stderr: "" });
  const adoptedAt = Date.now();
  await until(async () => (await answers()).every((status) => status === 400));
  expect(Date.now() - adoptedAt).toBeLessThan(2_000);
  expect(await drs("retire", ...decisionArgs)).toMatchObject({ code: 0, stderr: "" });
  await until(async () => (await answers()).every((status) => status === 201));
});

test(`each stored event has its features once after ${KILLS} kills of ${WORKERS} workers and an erasure, even if one throws`, async () => {
  expect(await drs("adopt", "throwing@1", ...decisionArgs, "--accept-refusals")).toMatchObject({ code: 0, stderr: "" });
  const start = () => spawnDrs(environment, ["feature", "work"]);
  const workers = Array.from({ length: WORKERS }, start);
  const stored = [(await post(servers[0])).eventId];
  await until(async () => (await statusOf(stored)).includes("computed"), 30_000);
  const delays: number[] = [];
  for (const server of [...servers, servers[0]]) {
    const { eventId } = await post(server);
    const storedAt = performance.now();
    const read = objects((await drs("get", "--event", eventId, "--wait", "5s", "--json")).stdout);
    delays.push(performance.now() - storedAt);
    expect(read).toMatchObject([{ status: "computed" }]);
  }
  expect(delays.toSorted((a, b) => a - b)[1], "the delay of an event from its 201").toBeLessThan(1_000);
  for (let kill = 0; kill < KILLS; kill++) {
    const person = kill % KILLS_PER_ERASURE === 0 ? await issueCredentials(environment, `erased-${kill}`) : undefined;
    const posted = Array.from({ length: EVENTS_A_ROUND }, (_, at) => post(servers[at % servers.length]));
    const ofPerson = person ? posted.map((_, at) => post(servers[at % servers.length], {}, person)) : [];
    const answers = await Promise.all(posted);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    stored.push(...answers.map(({ eventId }) => eventId));
    await Promise.all(ofPerson);
    // At the kill, a worker has computed the features of some events and may be computing others.
    await until(async () => (await statusOf(stored)).includes("computed"));
    const erasing = person && runWithBreakGlass(environment, ...ERASE, person.account);
    workers.shift()?.kill("SIGKILL");
    workers.push(start());
    expect((await erasing)?.code ?? 0).toBe(0);
  }
  expect(await drs("backfill", "start", "--purpose", "default", "--reason", "review 4711")).toMatchObject({ code: 0 });
  const all = [...stored, ...olderEventIds];
  await until(async () => (await statusOf(all)).every((status) => status === "computed"), 30_000);
  for (const worker of workers) worker.kill("SIGTERM");
  const owner = await connectAsOwner(environment);
  const left = await owner.query("select from feature_row where account like 'erased-%'");
  await owner.end();
  expect(left.rowCount).toBe(0);
  const layers = objects((await drs("layers", "--json")).stdout)[0];
  expect(layers).toMatchObject({ due_batches: 0 });
  for (const { features } of await read(stored)) {
    expect(features).toMatchObject([
      { feature: "example@1", failure: null },
      { feature: "throwing@1", state: "failed", failure: "threw" },
    ]);
  }
  expect(await read(stored)).toHaveLength(stored.length);
  const computed = await read(olderEventIds);
  expect(computed).toHaveLength(olderEventIds.length);
  for (const { features } of computed) {
    expect(features).toMatchObject([{ feature: "example@1", state: "departed" }, {}]);
  }
});

const ERASE = ["erase", "run", "--reason", "request 17", "--yes", "--account"];

const read = async (stored: readonly string[]): Promise<Record<string, unknown>[]> => {
  const events = objects((await drs("get", "--account", who.account, "--limit", "1000", "--json")).stdout);
  return events.filter(({ event_id }) => stored.includes(String(event_id)));
};

const statusOf = async (stored: readonly string[]): Promise<unknown[]> =>
  (await read(stored)).map(({ status }) => status);
