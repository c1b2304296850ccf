/** Commands of privacy, retention and keys do through the admin API what they do on the database. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { System } from "../../packages/server/src/app/system.ts";
import { objects, type Printed, runInProcess } from "../support/command.ts";
import { sharedDatabase, type TestDatabase } from "../support/database.ts";
import { makeCredentials, openTestSystem } from "../support/parties.ts";
import { Past } from "../support/past-event.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

let folder: string;
let database: TestDatabase;
let environment: Record<string, string>;
let system: System;
let past: Past;
let server: ServerProcess;
let remote: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-remote-"));
  database = await sharedDatabase();
  const { DRS_KEY_ENCRYPTION_KEY: key = "", ...others } = await database.environment();
  const file = join(folder, "key");
  await writeFile(file, `${key}\n`);
  environment = { ...others, DRS_KEY_ENCRYPTION_KEY_FILE: file, DRS_ERASURE_JOURNAL: join(folder, "journal") };
  system = await openTestSystem(environment);
  await makeCredentials(system, "customer-1");
  past = new Past(system);
  server = await startServer(environment);
  remote = await through("operator", "privacy", "auditor");
});

afterAll(async () => {
  await server?.stop();
  await past?.close();
  await system?.close();
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

const NO_ID = "019a0000-0000-7000-8000-000000000000";

/** The environment of commands that go through the admin API, with a token of the roles. */
async function through(...roles: readonly string[]): Promise<Record<string, string>> {
  const { stdout } = await runInProcess(
    environment,
    "admin-token",
    "issue",
    "--person",
    "p",
    "--role",
    ...roles,
    "--json",
  );
  const [issued] = objects<{ token: string }>(stdout);
  return { DRS_ADMIN_URL: server.adminUrl, DRS_ADMIN_TOKEN: issued?.token ?? "" };
}

/** What a command through the admin API prints as JSON. */
async function object(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runInProcess(remote, ...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout)[0] ?? {};
}

/** Runs a command both ways, first through the admin API. */
async function twice(...args: readonly string[]): Promise<readonly [Printed, Printed]> {
  const there = await runInProcess(remote, ...args);
  return [there, await runInProcess(environment, ...args)];
}

/** The operations of the newest audit entries of the API, newest first. */
async function audited(limit: number): Promise<readonly string[]> {
  const { stdout } = await runInProcess(environment, "audit", "list", "--limit", "1000", "--json");
  return objects<{ operation: string; via: string }>(stdout)
    .filter(({ via }) => via === "api")
    .slice(0, limit)
    .map(({ operation }) => operation);
}

/** Commands that only read. */
const READING: readonly (readonly string[])[] = [
  ["receipt", "key"],
  ["receipt", "key", "--json"],
  ["receipt", "get", NO_ID],
  ["retention", "run", "--dry-run"],
  ["key", "list"],
  ["key", "rotate", "--dry-run", "--json"],
  ["key", "accept-loss", "--reason", "no copy has them"],
];

describe("through the admin API", () => {
  test.each(READING)("a command prints what it prints on the database: %s %s", async (...args) => {
    const [there, here] = await twice(...args);
    expect(there).toEqual(here);
  });

  test("a hold is placed, reviewed, listed and lifted", async () => {
    const approver = ["--approver", "J. Doe", "--review", "2999-01-31"];
    const add = ["hold", "add", "--account", "customer-1", "--reason", "dispute 4711", ...approver];
    expect(await object(...add, "--dry-run")).toMatchObject({ events: 0, dry_run: true });
    expect(await runInProcess(environment, "hold", "list")).toMatchObject({ stdout: "No holds.\n" });
    const { hold_id: id } = (await object(...add)) as { hold_id: string };
    await object("hold", "review", id, ...approver);
    const [there, here] = await twice("hold", "list", "--json");
    expect(there).toEqual(here);
    expect(objects(there.stdout)[0]).toMatchObject({ hold_id: id, account: "customer-1", review_on: "2999-01-31" });
    expect(objects(there.stdout)[0]?.["placed_by"]).toMatch(/^p \(admin token /);
    expect(await object("hold", "lift", id, "--reason", "dispute 4711 is closed")).toEqual({
      hold_id: id,
      events_released: 0,
      dry_run: false,
    });
    const [again, directly] = await twice("hold", "lift", id, "--reason", "dispute 4711 is closed");
    expect(again).toEqual(directly);
    expect(again.code).toBe(1);
    expect(await audited(6)).toEqual(["hold.lift", "hold.lift", "hold.list", "hold.review", "hold.add", "hold.add"]);
  });

  test("a retention pass is run, recorded and shown", async () => {
    expect(await object("retention", "run")).toMatchObject({ partitions: 0, rows: 0 });
    const [there, here] = await twice("retention", "status", "--json");
    const [state] = objects<{ lag_seconds: number; runs: { run_id: string; actor: string }[] }>(there.stdout);
    const [same] = objects<{ lag_seconds: number }>(here.stdout);
    expect(state).toEqual({ ...same, lag_seconds: state?.lag_seconds });
    expect(state?.runs[0]?.actor).toMatch(/^p \(admin token /);
    const { receipt } = await object("receipt", "get", state?.runs[0]?.run_id ?? "");
    expect(String(receipt).split(".")).toHaveLength(3);
    expect(await audited(3)).toEqual(["receipt.get", "retention.status", "retention.run"]);
  });

  test("a request is recorded, extended, closed and listed", async () => {
    const add = ["request", "add", "--account", "customer-1", "--kind", "access", "--identity", "signed in"];
    expect(await object(...add, "--dry-run")).toMatchObject({ account: "customer-1", dry_run: true });
    const { request_id: id } = (await object(...add)) as { request_id: string };
    const longer = await object("request", "extend", id, "--reason", "many at once");
    expect(longer).toMatchObject({ request_id: id, extension_ground: "many at once" });
    const [again, directly] = await twice("request", "extend", id, "--reason", "many at once");
    expect(again).toEqual(directly);
    const [there, here] = await twice("request", "list", "--json");
    expect(there).toEqual(here);
    expect(objects(there.stdout)).toMatchObject([{ request_id: id, closed_at: null }]);
    const close = ["request", "close", id, "--outcome", "partly", "--erasure", NO_ID];
    const [refused, refusedHere] = await twice(...close);
    expect(refused).toEqual(refusedHere);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(await object("request", "close", id, "--outcome", "done")).toMatchObject({ account: null, outcome: "done" });
    const unknown = await runInProcess(remote, "request", "add", "--account", "x", "--kind", "access", "--dry-run");
    expect(unknown).toMatchObject({ code: 0, stderr: "Nothing is held about this account: check the spelling.\n" });
  });

  test("keys are rotated, and an old version is destroyed after it was confirmed", async () => {
    const [before] = objects<{ version: string }>((await runInProcess(environment, "key", "list", "--json")).stdout);
    const old = before?.version ?? "";
    const { version } = await object("key", "rotate");
    expect(version).not.toBe(old);
    const [there, here] = await twice("key", "destroy", String(version), "--yes");
    expect(there).toEqual(here);
    expect(there).toMatchObject({ code: 1, stderr: "It is the current version: drs key rotate first.\n" });
    const unconfirmed = await runInProcess(remote, "key", "destroy", old);
    expect(unconfirmed).toMatchObject({ code: 2, stdout: "" });
    expect(await object("key", "destroy", old, "--yes")).toEqual({ version: old, dry_run: false });
    const [rows] = await twice("key", "list", "--json");
    expect(objects(rows.stdout)).toMatchObject([{ version, current: true }]);
  });
});
