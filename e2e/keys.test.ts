/**
 * Tests of versions of the key-encryption key: secrets that were wrapped again can still be opened, and a destroyed
 * version opens no backup.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { withMaintenanceLock } from "../packages/server/src/store/postgres/maintenance-lock.ts";
import { drsOfRun } from "./support/bundle-drs.ts";
import { authorized, send, transport } from "./support/client.ts";
import { runWithBreakGlass, objects, type Printed } from "./support/command.ts";
import { AWAITED_LOCKS, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { openTestSystem } from "./support/parties.ts";
import { issueCredentials, type ServerProcess, startServer } from "./support/server.ts";

interface Version {
  readonly version: string;
  readonly current: boolean;
  readonly secrets: number;
  readonly known: boolean;
}

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await sharedDatabase();
});

afterAll(() => database?.close());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-keys-"));
  return () => rm(folder, { recursive: true, force: true });
});

/** The environment of a fresh database and key store. The test adds the key-encryption key. */
async function withoutKey(): Promise<Record<string, string>> {
  const { DRS_KEY_ENCRYPTION_KEY: _, ...environment } = await database.environment();
  return environment;
}

/** Stores an event. @returns its id and exact text. */
async function store(environment: Record<string, string>, server: ServerProcess, account: string) {
  const who = await issueCredentials(environment, account);
  const body = transport(who);
  const reply = await send({ url: server.url, headers: authorized(who), body: JSON.stringify(body) });
  expect(reply.status, reply.text).toBe(201);
  return { eventId: String(reply.json["event_id"]), text: JSON.stringify(body.observations) };
}

const read = (environment: Record<string, string>, eventId: string): Promise<Printed> =>
  runWithBreakGlass(environment, "event", "get", eventId, "--raw", "--reason", "r");

const versions = async (environment: Record<string, string>): Promise<Version[]> =>
  objects<Version>((await runWithBreakGlass(environment, "key", "list", "--json")).stdout);

describe("key-encryption keys in a file", () => {
  test("rotate while a server runs; the old version is destroyed, and can no longer open a backup", async () => {
    const file = join(folder, "key");
    await writeFile(file, `${randomBytes(32).toString("base64")}\n`);
    const environment: Record<string, string> = { ...(await withoutKey()), DRS_KEY_ENCRYPTION_KEY_FILE: file };
    const server = await startServer(environment);
    const first = await store(environment, server, "one");
    const [before] = await versions(environment);
    expect(before).toMatchObject({ current: true, known: true });
    expect(before?.secrets).toBeGreaterThan(2);
    const backup = join(folder, "backup");
    await cp(environment["DRS_KEY_DIR"] ?? "", backup, { recursive: true });

    const old = before?.version ?? "";
    expect((await runWithBreakGlass(environment, "key", "destroy", old, "--yes")).stderr).toContain("current version");
    const dry = objects((await runWithBreakGlass(environment, "key", "rotate", "--dry-run", "--json")).stdout)[0];
    expect(dry).toMatchObject({ secrets: before?.secrets, dry_run: true });
    // The audit entry of the rotation is the first one with a detail, so the rotation makes the audit secret: one more
    // secret.
    expect(objects((await runWithBreakGlass(environment, "key", "rotate", "--json")).stdout)[0]).toMatchObject({
      secrets: (before?.secrets ?? 0) + 1,
    });
    const second = await store(environment, server, "two");
    expect(await read(environment, first.eventId)).toMatchObject({ stdout: first.text });
    expect(await read(environment, second.eventId)).toMatchObject({ stdout: second.text });
    const [left, current] = await versions(environment);
    expect([left, current]).toMatchObject([
      { version: old, current: false, secrets: 0 },
      { current: true, known: true },
    ]);
    expect(current?.secrets).toBeGreaterThan(before?.secrets ?? 0);

    const asked = await runWithBreakGlass(environment, "key", "destroy", old);
    expect(asked).toMatchObject({ code: 2, stdout: "" });
    expect(await runWithBreakGlass(environment, "key", "destroy", old, "--yes")).toMatchObject({ code: 0, stderr: "" });
    expect(await versions(environment)).toHaveLength(1);
    expect(await read(environment, first.eventId)).toMatchObject({ stdout: first.text });
    await server.stop();
    const restored = { ...environment, DRS_KEY_DIR: backup };
    expect((await read(restored, first.eventId)).stderr).toMatch(/wrapped by another key-encryption key/);
  });

  test("a rotation that was interrupted is finished by the next one, under the same version", async () => {
    const file = join(folder, "key");
    const [old, next] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
    await writeFile(file, `${old}\n`);
    const environment = { ...(await withoutKey()), DRS_KEY_ENCRYPTION_KEY_FILE: file };
    const server = await startServer(environment);
    const event = await store(environment, server, "one");
    await server.stop();
    // This is the file that a rotation leaves if it is killed right after it has made the new version.
    await writeFile(file, `${old}\n${next}\n`);
    const [wrapping, made] = await versions(environment);
    const early = await runWithBreakGlass(environment, "key", "destroy", wrapping?.version ?? "", "--yes");
    expect(early).toMatchObject({ code: 1, stderr: expect.stringMatching(/still wraps \d+ secrets/) });
    expect(await readFile(file, "utf8")).toBe(`${old}\n${next}\n`);
    const done = objects((await runWithBreakGlass(environment, "key", "rotate", "--json")).stdout)[0];
    expect(done).toMatchObject({ version: made?.version });
    expect(await versions(environment)).toHaveLength(2);
    expect(await read(environment, event.eventId)).toMatchObject({ stdout: event.text });
    await writeFile(file, `${next}\n`);
    expect(await read(environment, event.eventId)).toMatchObject({ stdout: event.text });
  });
});

test("a rotation waits for another, and for a command that destroys secrets, before it changes the keys", async () => {
  const file = join(folder, "key");
  const key = `${randomBytes(32).toString("base64")}\n`;
  await writeFile(file, key);
  const environment: Record<string, string> = { ...(await withoutKey()), DRS_KEY_ENCRYPTION_KEY_FILE: file };
  await (await openTestSystem(environment)).close();
  const owner = new pg.Client({ connectionString: environment["DRS_DATABASE_URL"] });
  await owner.connect();
  await withMaintenanceLock({ connectionString: environment["DRS_DATABASE_URL"] ?? "" }, async () => {
    const rotating = [runWithBreakGlass(environment, "key", "rotate"), runWithBreakGlass(environment, "key", "rotate")];
    await until(async () => (await owner.query(`select ${AWAITED_LOCKS}`)).rowCount === 2);
    expect(await readFile(file, "utf8")).toBe(key);
    return { rotating };
  }).then(({ rotating }) => Promise.all(rotating));
  await owner.end();
  expect((await readFile(file, "utf8")).split("\n")).toHaveLength(4);
  expect((await versions(environment)).map(({ secrets }) => secrets > 0)).toEqual([false, false, true]);
});

test("a rotation that is killed stays in the list of work until the next one has finished it", async () => {
  const file = join(folder, "key");
  await writeFile(file, `${randomBytes(32).toString("base64")}\n`);
  const { DRS_KEY_DIR: _, ...others } = await withoutKey();
  const keyUrl = (await database.environment())["DRS_DATABASE_URL"] ?? "";
  const environment = { ...others, DRS_KEY_ENCRYPTION_KEY_FILE: file, DRS_KEY_DATABASE_URL: keyUrl };
  await (await openTestSystem(environment)).close();
  const rotations = async (): Promise<unknown[]> =>
    objects((await runWithBreakGlass(environment, "work", "list", "--json")).stdout).filter(
      ({ kind }) => kind === "rotation",
    );
  const holder = new pg.Client({ connectionString: keyUrl });
  await holder.connect();
  await holder.query("begin; select from drs_keys.secret for update");
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [drsOfRun(), "key", "rotate"], { env, stdio: "ignore" });
  const ended = once(child, "close");
  const waiting = `${AWAITED_LOCKS} and locktype <> 'advisory'`;
  const observer = new pg.Client({ connectionString: keyUrl });
  await observer.connect();
  await until(async () => (await observer.query(`select ${waiting}`)).rowCount !== 0);
  expect(await rotations()).toMatchObject([{ state: "running", done: 0, waits_for: null }]);
  child.kill("SIGKILL");
  await ended;
  // A waiting statement would continue after its client was killed, so its backend is ended.
  await observer.query(`select pg_terminate_backend(pid) ${waiting}`);
  await holder.query("rollback");
  await Promise.all([holder.end(), observer.end()]);
  await until(async () => JSON.stringify(await rotations()).includes('"waiting"'));
  expect(await rotations()).toMatchObject([{ done: 0, waits_for: "a rotation that continues it: drs key rotate" }]);
  expect((await runWithBreakGlass(environment, "key", "rotate")).code).toBe(0);
  expect(await rotations()).toEqual([]);
  expect(await versions(environment), "the same version").toHaveLength(2);
});

describe("key-encryption keys of the environment", () => {
  test("rotate if the previous and the new one are configured, and change nothing without the previous one", async () => {
    const environment = await database.environment();
    const server = await startServer(environment);
    const event = await store(environment, server, "one");
    await server.stop();
    const alone = await runWithBreakGlass(environment, "key", "rotate");
    expect(alone).toMatchObject({ code: 1, stdout: "" });
    expect(alone.stderr).toContain("DRS_PREVIOUS_KEY_ENCRYPTION_KEY");
    const work = objects((await runWithBreakGlass(environment, "work", "list", "--json")).stdout);
    expect(work.filter(({ kind }) => kind === "rotation")).toEqual([]);
    const next = randomBytes(32).toString("base64");
    const without = { ...environment, DRS_KEY_ENCRYPTION_KEY: next };
    expect((await read(without, event.eventId)).stderr).toMatch(/wrapped by another key-encryption key/);
    const both = { ...without, DRS_PREVIOUS_KEY_ENCRYPTION_KEY: environment["DRS_KEY_ENCRYPTION_KEY"] ?? "" };
    expect(await read(both, event.eventId)).toMatchObject({ stdout: event.text });
    expect(await runWithBreakGlass(both, "key", "rotate")).toMatchObject({ code: 0, stderr: "" });
    expect(await read(without, event.eventId)).toMatchObject({ stdout: event.text });
  });
});
