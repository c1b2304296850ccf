/** Tests that commands of privacy, retention and keys do the same through the admin API as on the database. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAdminClient } from "@device-risk-signals/admin-api";
import type { System } from "../../packages/server/src/runtime/system.ts";
import { objects, type Printed, remoteEnvironment, runWithBreakGlass } from "../support/command.ts";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "../support/database.ts";
import { until } from "../support/embedded.ts";
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
  environment = {
    ...others,
    DRS_KEY_ENCRYPTION_KEY_FILE: file,
    DRS_ERASURE_JOURNAL: join(folder, "journal"),
    DRS_APPROVAL_EVENTS: "1",
  };
  system = await openTestSystem(environment);
  await makeCredentials(system, "customer-1");
  past = new Past(system);
  server = await startServer(environment);
  remote = await through();
  // This command makes the secret that signs checkpoints. Otherwise the server would make this secret ten seconds after
  // its start, possibly between two commands that count secrets.
  await runWithBreakGlass(environment, "audit", "checkpoint");
});

afterAll(async () => {
  await server?.stop();
  await past?.close();
  await system?.close();
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

const NO_ID = "019a0000-0000-7000-8000-000000000000";

const through = (person?: string): Promise<Record<string, string>> =>
  remoteEnvironment(environment, server.adminUrl, ["operator", "privacy", "auditor"], person);

/** Runs a command through the admin API, and removes the progress lines that it prints of slow work. */
async function runRemote(...args: readonly string[]): Promise<Printed> {
  const printed = await runWithBreakGlass(remote, ...args);
  return { ...printed, stderr: printed.stderr.replace(/^.*, order [\da-f-]{36}: (?:waiting|running).*\n/gm, "") };
}

/** The JSON object that a command prints through the admin API. */
async function object(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runRemote(...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout)[0] ?? {};
}

/** Runs a command twice: first through the admin API, then on the database. */
async function twice(...args: readonly string[]): Promise<readonly [Printed, Printed]> {
  const there = await runRemote(...args);
  return [there, await runWithBreakGlass(environment, ...args)];
}

/** The operations of the newest audit entries of the admin API, newest first, without `call.end`. */
async function audited(limit: number): Promise<readonly string[]> {
  const { stdout } = await runWithBreakGlass(environment, "audit", "list", "--limit", "1000", "--json");
  return objects<{ operation: string; via: string }>(stdout)
    .filter(({ via, operation }) => via === "api" && operation !== "call.end")
    .slice(0, limit)
    .map(({ operation }) => operation);
}

/** Commands that change nothing in this installation. Some have nothing to read or to change. */
const READING: readonly (readonly string[])[] = [
  ["receipt", "key"],
  ["receipt", "key", "--json"],
  ["receipt", "get", NO_ID],
  ["retention", "run", "--dry-run"],
  ["key", "list"],
  ["erase", "plan", "--account", "unknown-account"],
  ["erase", "plan", "--account", "customer-1", "--purpose", "unknown", "--json"],
  ["erase", "run", "--account", "customer-1", "--reason", "request 17", "--dry-run", "--json"],
  ["erase", "accept-loss", "--entry", "1", "--reason", "no copy has it"],
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
    expect(await runWithBreakGlass(environment, "hold", "list")).toMatchObject({ stdout: "No holds.\n" });
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

  test("a restriction is placed, listed and lifted", async () => {
    const add = ["restriction", "add", "--account", "customer-1", "--article", "18", "--reason", "disputed accuracy"];
    const by = ["--approver", "J. Doe"];
    expect(await object(...add, ...by, "--dry-run")).toMatchObject({ events: 0, dry_run: true });
    expect(await runWithBreakGlass(environment, "restriction", "list")).toMatchObject({ stdout: "No restrictions.\n" });
    const { restriction_id: id } = (await object(...add, ...by)) as { restriction_id: string };
    for (const args of [
      ["restriction", "list", "--account", "customer-1", "--json"],
      [...add, ...by],
      [...add, "--request", NO_ID],
      ["restriction", "lift", id, "--informed-on", "2020-01-31", "--reason", "it is resolved", "--yes"],
    ]) {
      const [there, here] = await twice(...args);
      expect(there).toEqual(here);
    }
    const [row] = objects((await runRemote("restriction", "list", "--json")).stdout);
    expect(row).toMatchObject({ restriction_id: id, account: "customer-1", article: 18, active: true });
    expect(row?.["placed_by"]).toMatch(/^p \(admin token /);
    const informed = ["--informed-on", new Date().toISOString().slice(0, 10), "--reason", "it is resolved"];
    expect(await runRemote("restriction", "lift", id, ...informed)).toMatchObject({
      code: 2,
      stdout: "",
    });
    const lifted = { restriction_id: id, events: 0, dry_run: false };
    expect(await object("restriction", "lift", id, ...informed, "--yes")).toEqual(lifted);
    expect(await audited(2)).toEqual(["restriction.lift", "restriction.lift"]);
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
    const add = ["request", "add", "--account", "customer-1", "--kind", "rectification", "--identity", "signed in"];
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
    const unknown = await runWithBreakGlass(
      remote,
      "request",
      "add",
      "--account",
      "x",
      "--kind",
      "access",
      "--dry-run",
    );
    expect(unknown).toMatchObject({ code: 0, stderr: "Nothing is stored about this account: check the spelling.\n" });
  });

  test("keys are rotated, and an old version is destroyed after a confirmation", async () => {
    const [before] = objects<{ version: string }>(
      (await runWithBreakGlass(environment, "key", "list", "--json")).stdout,
    );
    const old = before?.version ?? "";
    const { version } = await object("key", "rotate");
    expect(version).not.toBe(old);
    const [there, here] = await twice("key", "destroy", String(version), "--yes");
    expect(there).toEqual(here);
    expect(there).toMatchObject({ code: 1, stderr: "It is the current version: drs key rotate first.\n" });
    const unconfirmed = await runRemote("key", "destroy", old);
    expect(unconfirmed).toMatchObject({ code: 2, stdout: "" });
    const waiting = await runRemote("key", "destroy", old, "--yes");
    expect(waiting).toMatchObject({ code: 5, stdout: "" });
    const approvalId = /Approval (\S+) by privacy/.exec(waiting.stderr)?.[1] ?? "";
    const approve = (person: string): Promise<boolean> =>
      system.approvals.decide(system.pool, system.clock, {
        approvalId,
        person,
        roles: ["privacy"],
        decision: "approved",
      });
    expect([await approve("p"), await approve("q")]).toEqual([false, true]);
    expect(await object("key", "destroy", old, "--yes")).toEqual({ version: old, dry_run: false });
    const [rows] = await twice("key", "list", "--json");
    expect(objects(rows.stdout)).toMatchObject([{ version, current: true }]);
  });

  test("an account is exported only for its open request, with the same content as on the database", async () => {
    const { eventId, exact } = await past.store(1, { account: "exported" });
    const add = ["request", "add", "--kind", "access", "--account"];
    const { request_id: id } = (await object(...add, "exported")) as { request_id: string };
    const { request_id: other } = (await object(...add, "customer-1")) as { request_id: string };
    const [there, here] = [join(folder, "export"), join(folder, "export-here")];
    const exporting = (out: string) => {
      return ["account", "export", "--account", "exported", "--reason", "request 17", "--out", out, "--json"];
    };
    expect(await runRemote(...exporting(there))).toMatchObject({ code: 2, stdout: "" });
    const ofOther = [...exporting(there), "--request", other];
    expect(await runRemote(...ofOther)).toEqual(await runWithBreakGlass(environment, ...ofOther));
    const unasked = { account: "exported", reason: "request 17" };
    const client = createAdminClient({ url: server.adminUrl, token: remote["DRS_ADMIN_TOKEN"] ?? "" });
    await expect(client.call("exportAccount", unasked)).rejects.toMatchObject({ code: "request-invalid" });
    const inFrench = { ...unasked, request_id: id, language: "fr" as "en" };
    await expect(client.call("exportAccount", inFrench)).rejects.toMatchObject({ code: "request-invalid" });

    const waiting = await runRemote(...exporting(there), "--request", id);
    expect(waiting).toMatchObject({ code: 5, stdout: "" });
    const approvalId = /Approval (\S+) by operator or privacy/.exec(waiting.stderr)?.[1] ?? "";
    const decision = { approvalId, person: "q", roles: ["operator"], decision: "approved" } as const;
    expect(await system.approvals.decide(system.pool, system.clock, decision)).toBe(true);
    const exported = await runRemote(...exporting(there), "--request", id);
    expect(exported).toMatchObject({ code: 0, stderr: "" });
    expect(await runWithBreakGlass(environment, ...exporting(here))).toMatchObject({ code: 0, stderr: "" });
    expect(await readFile(join(there, "index.html"), "utf8")).toContain('<html lang="en">');
    expect(await readFile(join(there, "events", `${eventId}.json`), "utf8")).toBe(exact);
    expect(await readdir(there)).toEqual(await readdir(here));
    for (const { name } of objects<{ files: { name: string }[] }>(exported.stdout)[0]?.files ?? []) {
      // They name the accesses, of which the second export has one more, and the export.
      if (["accesses.ndjson", "index.html", "letter.txt"].includes(name)) continue;
      expect(await readFile(join(there, name), "utf8")).toBe(await readFile(join(here, name), "utf8"));
    }
    const { stdout } = await runWithBreakGlass(environment, "audit", "list", "--account", "exported", "--json");
    expect(objects(stdout).filter(({ operation }) => operation === "account.export")).toMatchObject([
      { via: "direct" },
      { via: "api", reason: "request 17", detail: { request_id: id } },
    ]);
    await object("request", "close", other, "--outcome", "refused", "--reason", "no such person");
    await object("request", "close", id, "--outcome", "done", "--identity", "passport");
    const again = [...exporting(join(folder, "again")), "--request", id];
    expect(await runRemote(...again)).toMatchObject({ code: 1, stdout: "" });
  });

  test("a policy that makes many events expire earlier needs an approval of its file, and a longer period needs none", async () => {
    for (const account of ["policy-1", "policy-2"]) await past.store(0, { account });
    const apply = async (period: string) => {
      const file = join(folder, "policy.yaml");
      const texts = { title: "t", legal_basis: "l", owner: "o", derived_retention: "P9Y" };
      const purposes = [{ id: "default", ...texts, raw_retention: period }];
      await writeFile(file, JSON.stringify({ purposes, actions: {}, unmapped: "default" }));
      return runRemote("purpose", "apply", file);
    };
    const waiting = await apply("P2Y");
    expect(waiting).toMatchObject({ code: 5, stdout: "" });
    const approvalId = /Approval (\S+) by operator or privacy/.exec(waiting.stderr)?.[1] ?? "";
    const [row] = objects<{ plan: { changes: object[] } }>(
      (await runWithBreakGlass(environment, "approval", "show", approvalId, "--json")).stdout,
    );
    expect(row).toMatchObject({ operation: "policy.apply", any_role: true, state: "waiting" });
    expect(row?.plan.changes).toMatchObject([{ purpose: "default", expire_at_once: 0 }]);
    const decide = (person: string): Promise<boolean> =>
      system.approvals.decide(system.pool, system.clock, {
        approvalId,
        person,
        roles: ["privacy"],
        decision: "approved",
      });
    expect(await decide("p")).toBe(false);
    expect(await decide("q")).toBe(true);
    expect(await apply("P1Y")).toMatchObject({ code: 5 });
    expect(await apply("P2Y")).toMatchObject({ code: 0, stderr: "" });
    expect(await apply("P3Y")).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await runWithBreakGlass(environment, "audit", "list", "--limit", "20", "--json");
    const applied = objects<{ operation: string; outcome: string }>(stdout).filter(
      ({ operation, outcome }) => operation === "policy.apply" && outcome === "applied",
    );
    expect(applied).toMatchObject([{ approval_id: null }, { approval_id: approvalId }]);
  });

  describe("an erasure", () => {
    let persons = 0;
    // The limit adds up what a person erases in a day.
    beforeEach(async () => {
      remote = await through(`eraser-${++persons}`);
    });

    const erase = (account: string, ...more: readonly string[]) => {
      return runRemote("erase", "run", "--account", account, "--reason", "request 17", ...more);
    };

    test("asks for a confirmation, tests that the receipt can be written, and answers a second call with the same result", async () => {
      const event = await past.store(0, { account: "customer-2" });
      expect(await erase("customer-2")).toMatchObject({ code: 2, stdout: "" });
      const nowhere = await erase("customer-2", "--yes", "--receipt", join(folder, "nowhere", "receipt.jws"));
      expect(nowhere.stderr).toContain("Nothing was erased");
      const [planned, here] = await twice("erase", "plan", "--account", "customer-2", "--json");
      expect(planned).toEqual(here);
      expect(objects(planned.stdout)).toMatchObject([{ events: 1, held: 0 }]);
      const file = join(folder, "receipt.jws");
      const erased = await erase("customer-2", "--yes", "--receipt", file, "--json");
      expect(erased).toMatchObject({ code: 0, stderr: "" });
      const [erasure] = objects<{ erasure_id: string; actor: string; events: number }>(erased.stdout);
      expect(erasure).toMatchObject({ kind: "account", events: 1 });
      expect(erasure?.actor).toMatch(/^eraser-1 \(admin token /);
      const receipt = await readFile(file, "utf8");
      const again = await erase("customer-2", "--receipt", file, "--json");
      expect(again).toEqual(erased);
      expect(await readFile(file, "utf8")).toBe(receipt);
      const gone = await runWithBreakGlass(environment, "event", "get", event.eventId, "--reason", "dispute 4711");
      expect(gone.code).toBe(1);
      const [there, directly] = await twice("erase", "list", "--account", "customer-2", "--json");
      expect(there).toEqual(directly);
      expect(objects(there.stdout)).toMatchObject([{ erasure_id: erasure?.erasure_id }]);
    });

    test("exits with code 3 if a hold keeps a part", async () => {
      const { eventId } = await past.store(0, { account: "customer-3" });
      const approver = ["--approver", "J. Doe", "--review", "2999-01-31"];
      await object("hold", "add", "--event", eventId, "--reason", "dispute 4711", ...approver);
      const erased = await erase("customer-3", "--yes", "--json");
      expect(erased).toMatchObject({ code: 3, stderr: expect.stringContaining("A hold keeps 1 event") });
      expect(objects(erased.stdout)).toMatchObject([{ still_held: 1 }]);
    });

    test("needs an approval if events that came after its plan make it too large to run without one", async () => {
      await past.store(0, { account: "customer-6" });
      const owner = await connectAsOwner(environment);
      try {
        await owner.query("begin");
        await owner.query("select lock_holds()");
        const erasing = erase("customer-6", "--yes");
        const waits = "select from pg_locks where locktype = 'advisory' and not granted";
        await until(async () => (await owner.query(waits)).rowCount !== 0);
        await past.store(0, { account: "customer-6" });
        await owner.query("commit");
        expect(await erasing).toMatchObject({ code: 5, stderr: expect.stringContaining("More events have arrived") });
      } finally {
        await owner.end();
      }
      expect(await object("erase", "plan", "--account", "customer-6")).toMatchObject({ events: 2 });
    });

    test("begins once if several calls use one approval, and later events do not invalidate the approval", async () => {
      for (const hours of [0, 1]) await past.store(hours, { account: "customer-5" });
      const waiting = await erase("customer-5", "--refuse-later", "--yes");
      const approvalId = /Approval (\S+) by operator/.exec(waiting.stderr)?.[1] ?? "";
      await past.store(0, { account: "customer-5" });
      expect((await erase("customer-5", "--refuse-later", "--yes")).stderr).toContain(approvalId);
      const decision = { approvalId, person: "q", roles: ["operator"], decision: "approved" } as const;
      expect(await system.approvals.decide(system.pool, system.clock, decision)).toBe(true);
      const client = createAdminClient({ url: server.adminUrl, token: remote["DRS_ADMIN_TOKEN"] ?? "" });
      const order = { account: "customer-5", reason: "request 17", refuse_later: true };
      await Promise.allSettled([0, 1, 2].map(() => client.call("runErasure", order)));
      expect((await client.call("listErasures", { account: "customer-5" })).erasures).toHaveLength(1);
      expect(
        objects((await runWithBreakGlass(environment, "approval", "show", approvalId, "--json")).stdout),
      ).toMatchObject([{ state: "used" }]);
    });

    test("of many events needs an approval of another person, once", async () => {
      for (const hours of [0, 1]) await past.store(hours, { account: "customer-4" });
      const waiting = await erase("customer-4", "--yes");
      expect(waiting).toMatchObject({ code: 5, stdout: "" });
      const approvalId = /Approval (\S+) by operator/.exec(waiting.stderr)?.[1] ?? "";
      const [row] = objects<{ parameters: object; plan: object }>(
        (await runWithBreakGlass(environment, "approval", "show", approvalId, "--json")).stdout,
      );
      expect(row).toMatchObject({ operation: "erase.run", state: "waiting", plan: { events: 2 } });
      expect(JSON.stringify(row)).not.toContain("customer-4");
      expect((await erase("customer-4", "--yes")).code).toBe(5);
      const decision = { approvalId, person: "q", roles: ["operator"], decision: "approved" } as const;
      expect(await system.approvals.decide(system.pool, system.clock, decision)).toBe(true);
      expect(await erase("customer-4", "--yes")).toMatchObject({ code: 0, stderr: "" });
      const used = await runWithBreakGlass(environment, "approval", "show", approvalId, "--json");
      expect(objects(used.stdout)).toMatchObject([{ state: "used" }]);
      const { stdout } = await runWithBreakGlass(environment, "audit", "list", "--json");
      const entries = objects<{ operation: string; approval_id: string }>(stdout);
      const named = entries.filter(({ operation }) => ["approval.use", "erase.run"].includes(operation));
      expect(named.slice(0, 3)).toMatchObject([
        { operation: "erase.run", outcome: "done" },
        { operation: "approval.use", outcome: "done", approval_id: approvalId },
        { operation: "erase.run", outcome: "begun", approval_id: approvalId },
      ]);
      expect(await erase("customer-4")).toMatchObject({ code: 0, stdout: expect.stringContaining("Nothing is left.") });
    });
  });
});
