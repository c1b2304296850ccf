/**
 * Tests of features of stored events through the command line and HTTP, with workers that are killed, and with wrong
 * types.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleOf } from "../packages/features/src/bundle.fixture.ts";
import { objects, runInProcess } from "./support/command.ts";
import { authorized, send, transport } from "./support/client.ts";
import { sharedDatabase, temporaryFolder, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { credentials, type Credentials, type ServerProcess, spawnDrs, startServer } from "./support/server.ts";
import { rounds } from "./support/soak.ts";

const KILLS = rounds(3, 20);
const WORKERS = 2;
const EVENTS_A_ROUND = 12;

let database: TestDatabase;
let environment: Record<string, string>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let servers: readonly ServerProcess[] = [];
let who: Credentials;

const drs = (...args: readonly string[]) => runInProcess(environment, "feature", ...args);

beforeAll(async () => {
  folder = await temporaryFolder();
  database = await sharedDatabase();
  environment = { ...(await database.environment()), DRS_THROTTLE_RATE: "0", DRS_FEATURE_WORKER: "false" };
  servers = await Promise.all([startServer(environment), startServer(environment)]);
  who = await credentials(environment);
  const bundles = join(folder.path, "bundles.json");
  const purposes = ["default"];
  const throwing = bundleOf("() => { throw new Error('x'); }", { id: "throwing", purposes });
  await writeFile(bundles, JSON.stringify([bundleOf("({ su }) => su.value ?? null", { purposes }), throwing]));
  expect(await drs("propose", bundles, "--reason", "review 4711")).toMatchObject({ code: 0, stderr: "" });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await database.close();
  await folder.remove();
});

const deciding = ["example@1", "--purpose", "default", "--reason", "review 4711"];

async function post(
  server: ServerProcess | undefined,
  data: object = {},
): Promise<{ status: number; eventId: string }> {
  const body = transport(who);
  const probes = { os_integrity: { status: "success", data: { ...REQUIRED, ...data } } };
  const text = JSON.stringify({ ...body, observations: { ...body.observations, probes } });
  const { status, json } = await send({ url: server?.url ?? "", headers: authorized(who), body: text });
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

test("a wrong type is rejected by every server within 2 s of the adoption, until the features are retired", async () => {
  const wrong = { suBinaryFound: "yes" };
  const answers = async (): Promise<number[]> =>
    Promise.all(servers.map(async (server) => (await post(server, wrong)).status));
  expect(await answers()).toEqual([201, 201]);
  expect((await drs("adopt", ...deciding)).stderr).toContain("--accept-refusals");
  expect(await drs("adopt", ...deciding, "--accept-refusals")).toMatchObject({ code: 0, stderr: "" });
  const adoptedAt = Date.now();
  await until(async () => (await answers()).every((status) => status === 400));
  expect(Date.now() - adoptedAt).toBeLessThan(2_000);
  expect(await drs("retire", ...deciding)).toMatchObject({ code: 0, stderr: "" });
  await until(async () => (await answers()).every((status) => status === 201));
});

test(`each stored event has its features once after ${KILLS} kills of ${WORKERS} workers, even if one feature throws`, async () => {
  expect(await drs("adopt", "throwing@1", ...deciding, "--accept-refusals")).toMatchObject({ code: 0, stderr: "" });
  const start = () => spawnDrs(environment, ["feature", "work"]);
  const workers = Array.from({ length: WORKERS }, start);
  const stored: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const posted = Array.from({ length: EVENTS_A_ROUND }, (_, at) => post(servers[at % servers.length]));
    const answers = await Promise.all(posted);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    stored.push(...answers.map(({ eventId }) => eventId));
    // At the kill a worker has computed some features, and may be computing the others.
    await until(async () => (await statusOf(stored)).includes("computed"));
    workers.shift()?.kill("SIGKILL");
    workers.push(start());
  }
  await until(async () => (await statusOf(stored)).every((status) => status === "computed"), 30_000);
  for (const worker of workers) worker.kill("SIGTERM");
  const layers = objects((await drs("layers", "--json")).stdout)[0];
  expect(layers).toMatchObject({ due_batches: 0 });
  for (const { features } of await read(stored)) {
    expect(features).toMatchObject([
      { feature: "example@1", failure: null },
      { feature: "throwing@1", state: "failed", failure: "threw" },
    ]);
  }
});

const read = async (stored: readonly string[]): Promise<Record<string, unknown>[]> => {
  const events = objects((await drs("get", "--account", who.account, "--limit", "1000", "--json")).stdout);
  return events.filter(({ event_id }) => stored.includes(String(event_id)));
};

const statusOf = async (stored: readonly string[]): Promise<unknown[]> =>
  (await read(stored)).map(({ status }) => status);
