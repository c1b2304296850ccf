/** Stores, erases and reads events, and checks that an erasure survives the restore of a backup. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { bundleOf } from "../../packages/features/src/bundle.fixture.ts";
import { authorized, send, transport } from "./client.ts";
import { objects, PRIVACY, runWithBreakGlass } from "./command.ts";
import { type Credentials, issueCredentials, type ServerProcess, startServer } from "./server.ts";

export type Environment = Record<string, string>;

export interface Stored {
  readonly eventId: string;
  readonly text: string;
}

export async function store(server: ServerProcess, who: Credentials): Promise<Stored> {
  const body = transport(who);
  const reply = await send({ url: server.url, headers: authorized(who), body: JSON.stringify(body) });
  expect(reply.status, reply.text).toBe(201);
  return { eventId: String(reply.json["event_id"]), text: JSON.stringify(body.observations) };
}

/** Exact bytes of the event, or `undefined` if it can't be read. */
export async function read(environment: Environment, { eventId }: Stored): Promise<string | undefined> {
  const { code, stdout } = await runWithBreakGlass(environment, "event", "get", eventId, "--raw", ...PRIVACY);
  return code === 0 ? stdout : undefined;
}

export async function listed(environment: Environment): Promise<string[]> {
  const { stdout } = await runWithBreakGlass(environment, "event", "list", ...PRIVACY, "--limit", "0", "--json");
  return objects(stdout).map(({ event_id }) => String(event_id));
}

export async function erase(environment: Environment, ...args: readonly string[]): Promise<void> {
  const done = await runWithBreakGlass(environment, "erase", "run", ...args, "--reason", "a restore", "--yes");
  expect(done.code, done.stderr).toBe(0);
}

/** Adopts a feature, so that later events have values. @param folder receives the file with the bundle. */
async function adoptFeature(environment: Environment, folder: string): Promise<void> {
  const file = join(folder, "bundles.json");
  await writeFile(
    file,
    JSON.stringify([bundleOf("({ su }) => ((su.value ?? null) === null ? null : true)", { purposes: ["default"] })]),
  );
  const why = ["--reason", "review 4711"];
  for (const args of [
    ["propose", file],
    ["adopt", "example@1", "--purpose", "default"],
  ]) {
    const { code, stderr } = await runWithBreakGlass(environment, "feature", ...args, ...why);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  }
}

/** The statuses of the features of the account's events, as `drs feature get` prints them. */
async function featuresOf(environment: Environment, account: string): Promise<unknown[]> {
  const { stdout } = await runWithBreakGlass(
    environment,
    "feature",
    "get",
    "--account",
    account,
    "--wait",
    "5s",
    "--json",
  );
  return objects(stdout).map(({ status }) => status);
}

/**
 * Stores events, makes a backup, stores more events, erases an account and an event, restores the backup, and checks
 * that what was erased is still erased.
 * @param backUp makes a backup and returns a function that restores it while no process runs.
 * @param folder a folder for the bundle of a feature. Without it, events have no features.
 */
export async function expectErasureSurvivesRestore(
  environment: Environment,
  backUp: () => Promise<() => Promise<void>>,
  folder?: string,
): Promise<void> {
  let server = await startServer(environment);
  const [former, stays] = [await issueCredentials(environment, "former"), await issueCredentials(environment, "stays")];
  if (folder !== undefined) await adoptFeature(environment, folder);
  const before = [await store(server, former), await store(server, stays), await store(server, stays)] as const;
  const hasFeatures = folder !== undefined;
  if (hasFeatures) expect(await featuresOf(environment, "former")).toEqual(["computed"]);
  await server.stop();
  const restore = await backUp();

  server = await startServer(environment);
  const after = [await store(server, former), await store(server, stays)] as const;
  await erase(environment, "--account", "former");
  await erase(environment, "--event", before[1].eventId);
  expect((await listed(environment)).toSorted()).toEqual([before[2].eventId, after[1].eventId].toSorted());
  await server.stop();

  await restore();
  server = await startServer(environment);
  expect(server.stderr()).toContain("the database lacked 2 erasures of the journal: applied again");
  expect(await listed(environment)).toEqual([before[2].eventId]);
  expect(await read(environment, before[2])).toBe(before[2].text);
  for (const erased of [before[0], before[1]]) expect(await read(environment, erased)).toBeUndefined();
  const tokens = await runWithBreakGlass(environment, "token", "list", "--account", "former", "--json");
  expect(tokens.stdout).toBe("");
  if (hasFeatures) expect(await featuresOf(environment, "former")).toEqual([]);
  if (hasFeatures) expect(await featuresOf(environment, "stays")).toEqual(["computed"]);
  const later = await store(server, stays);
  expect(await read(environment, later)).toBe(later.text);
  await server.stop();
  server = await startServer(environment);
  expect(server.stderr()).not.toContain("lacked");
  await server.stop();
}
