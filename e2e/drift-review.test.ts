/**
 * Tests what happens when a release of the SDK sends a new probe: from the first event with the probe, to a feature
 * that reads the probe, to the decision that rejects the probe.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authorized, send, transport } from "./support/client.ts";
import { objects, runWithBreakGlass } from "./support/command.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";
import { until } from "./support/embedded.ts";
import { type Credentials, issueCredentials, type ServerProcess, startServer } from "./support/server.ts";

let database: TestDatabase;
let environment: Record<string, string>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: ServerProcess;
let who: Credentials;

beforeAll(async () => {
  folder = await temporaryFolder();
  database = await sharedDatabase();
  environment = await database.environment();
  server = await startServer(environment);
  who = await issueCredentials(environment);
});
afterAll(async () => {
  await server?.stop();
  await database?.close();
  await folder?.remove();
});

const REASON = ["--reason", "review 4711"];
const drs = (...args: readonly string[]) => runWithBreakGlass(environment, ...args);
const succeed = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await drs(...args);
  expect({ code, stderr }, args.join(" ")).toEqual({ code: 0, stderr: "" });
  return stdout;
};

/**
 * Posts an event of the SDK version, whose `probes` member is exactly the text `probes`.
 * @returns the id of the event
 */
async function post(sdkVersion: string, probes: string): Promise<string> {
  const body = transport(who);
  const marker = '"probes":"here"';
  const observations = { ...body.observations, probes: "here" };
  const text = JSON.stringify({ ...body, sdk_version: sdkVersion, observations });
  const { status, json } = await send({
    url: server.url,
    headers: authorized(who),
    body: text.replace(marker, `"probes": ${probes}`),
  });
  expect(status).toBe(201);
  return String(json["event_id"]);
}

/** The decision about each path in the list of drift. */
const listDecisions = async (): Promise<Record<string, unknown>> =>
  Object.fromEntries(
    objects(await succeed("drift", "list", "--json")).map(({ path, review }) => [String(path), review]),
  );

const NEW_PROBES =
  '{ "new_probe": {"status":"success","data":{"found": true, "n":1.0}}, "fonts": {"status":"success","data":{"novel":1}} }';

async function writeDefinition(repository: string): Promise<void> {
  await succeed("feature", "init", repository);
  const file = join(repository, "features/vpn-active.feature.ts");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("network.isVpnActive", "new_probe.found").replaceAll("vpn_active", "new_found"));
}

const valueOf = async (eventId: string): Promise<unknown> => {
  const stdout = await succeed("feature", "get", "--event", eventId, "--wait", "5s", "--json");
  const [event] = objects<{ features: { state: string; value: unknown; inputs: string[] }[] }>(stdout);
  return event?.features.map(({ state, value, inputs }) => ({ state, value, inputs }));
};

/** The features that read a path. */
const readersOf = async (path: string): Promise<unknown> =>
  objects(await succeed("drift", "show", path, "--json"))[0]?.["read_by"];

test("a new probe is stored exactly, listed as drift, and read by features only while it is accepted", async () => {
  const first = await post("2.0.0", NEW_PROBES);
  expect(await succeed("event", "get", first, "--raw", ...REASON)).toContain(`"probes": ${NEW_PROBES}`);
  const repository = join(folder.path, "features");
  await writeDefinition(repository);
  const { code, stderr } = await drs("feature", "test", repository);
  expect(code).toBe(1);
  expect(stderr).toContain('the field "new_probe.found" can\'t be an input');
  await until(async () => (await listDecisions())["new_probe"] === "open");
  await succeed("drift", "ignore", "fonts.novel", ...REASON);
  expect(await listDecisions()).toEqual({ new_probe: "open", "new_probe.found": "open", "new_probe.n": "open" });
  expect(
    (await drs("drift", "accept", "new_probe.found", "--type", "string", "--sensitivity", "low", ...REASON)).stderr,
  ).toContain("was seen as boolean only");

  const overlay = ["--overlay", join(repository, "overlay.json")];
  const type = ["--type", "boolean", "--sensitivity", "low"];
  await succeed("drift", "accept", "new_probe.found", ...type, ...REASON, ...overlay);
  await succeed("feature", "lock", repository);
  await succeed("feature", "test", repository);
  await succeed("feature", "propose", repository, ...REASON);
  const deciding = ["new_found@1", "--purpose", "default", ...REASON];
  expect(await succeed("feature", "adopt", ...deciding)).toContain("Adopted as layer 1.");
  const reader = { feature: "new_found@1", path: "new_probe.found" };
  expect(await readersOf("new_probe.found")).toEqual([{ ...reader, computed_for: ["default"] }]);
  expect(await readersOf("new_probe")).toEqual([{ ...reader, computed_for: ["default"] }]);
  expect(await readersOf("new_probe.fo")).toEqual([]);

  const [newer, older] = [
    await post("2.0.0", NEW_PROBES.replace('"novel":1', '"novel":"1"')),
    await post("1.0.0", '{"fonts":{"status":"timeout"}}'),
  ];
  expect(await valueOf(newer)).toEqual([{ state: "observed", value: true, inputs: ["observed"] }]);
  expect(await valueOf(older)).toEqual([{ state: "omitted", value: null, inputs: ["omitted:probe-absent"] }]);
  await until(async () => (await listDecisions())["fonts.novel"] === "open");

  await succeed("feature", "retire", ...deciding);
  expect(await readersOf("new_probe.found")).toEqual([{ ...reader, computed_for: [] }]);
  await succeed("drift", "reject", "new_probe.found", ...REASON);
  const again = await drs("feature", "adopt", ...deciding);
  expect(again.code).toBe(1);
  expect(again.stderr).toContain('Nothing was adopted: the field "new_probe.found" can\'t be an input');
});
