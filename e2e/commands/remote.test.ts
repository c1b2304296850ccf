/** Tests that commands print the same through the admin API as on the database. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { remoteEnvironment, runWithBreakGlass, objects, type Printed } from "../support/command.ts";
import { sharedDatabase, type TestDatabase } from "../support/database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { makeCredentials, openTestSystem } from "../support/parties.ts";
import { Past, type PastEvent } from "../support/past-event.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

let database: TestDatabase;
let environment: Record<string, string>;
let server: ServerProcess;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let remote: Record<string, string>;
let event: PastEvent;
let other: PastEvent;

beforeAll(async () => {
  folder = await temporaryFolder();
  database = await sharedDatabase();
  environment = await database.environment();
  const system = await openTestSystem(environment);
  await makeCredentials(system, "customer-1");
  const past = new Past(system);
  event = await past.store(1, { account: "customer-1" });
  const skipped = '{"probes":{"os_integrity":{"status":"skipped","reason":"disabled"}}}';
  other = await past.store(1, { account: "customer-1" }, skipped);
  await past.close();
  await system.close();
  server = await startServer(environment);
  await runWithBreakGlass(environment, "purpose", "apply", await policyFile("P1Y"), "--yes");
  remote = await through("operator", "analyst", "privacy", "auditor");
});

afterAll(async () => {
  await server?.stop();
  await folder?.remove();
  await database?.close();
});

/** Writes a policy with one purpose as JSON, which is valid YAML. @returns the path of the file */
async function policyFile(raw_retention: string): Promise<string> {
  const path = join(folder.path, "policy.yaml");
  const texts = { title: "Fraud prevention", legal_basis: "legitimate interest", owner: "o" };
  const purpose = { id: "default", ...texts, raw_retention, derived_retention: "P1Y" };
  await writeFile(path, JSON.stringify({ purposes: [purpose], actions: {}, unmapped: "default" }));
  return path;
}

const WHY = ["--category", "dispute", "--reason", "dispute 4711"];

const through = (...roles: readonly string[]): Promise<Record<string, string>> =>
  remoteEnvironment(environment, server.adminUrl, roles);

/** Commands that only read. */
const READING: readonly (readonly string[])[] = [
  ["token", "list"],
  ["token", "list", "--account", "customer-1"],
  ["action", "list"],
  ["action", "list", "--account", "customer-1", "--json"],
  ["purpose", "list"],
  ["purpose", "list", "--json"],
  ["purpose", "record"],
  ["purpose", "record", "--json"],
  ["purpose", "apply", "docs/privacy/purposes.yaml", "--dry-run"],
  ["case", "list"],
  ["audit", "review"],
  ["review", "list", "--json"],
  ["event", "list"],
  ["event", "list", "--account", "customer-1", "--limit", "0", "--json"],
  ["event", "list", "--account", "customer-1", "--session", "session", "--platform", "android", "--from", "-2d"],
  ["event", "list", "--purpose", "default", "--from", "yesterday", "--to", "2999-01-31", "--json"],
  ["drift", "list"],
  ["drift", "overlay", "--json"],
  ["drift", "show", "fonts.novel", "--json"],
  ["feature", "layers"],
  ["feature", "decisions", "--json"],
  ["feature", "backfill", "status"],
  ["outcome", "list", "--probe", "network"],
  ["outcome", "list", "--from", "2020-01-31", "--limit", "0", "--json"],
  ["rejection", "list"],
  ["rejection", "list", "--problem", "request-invalid", "--to", "2999-01-31", "--json"],
  ["admin-token", "list"],
];

describe("a command through the admin API", () => {
  test.each(READING)("prints what it prints on the database: %s %s", async (...args) => {
    const [first] = [await runWithBreakGlass(remote, ...args)];
    const here = await runWithBreakGlass(environment, ...args);
    expect(withoutUse(first)).toEqual(withoutUse(here));
    expect(first.code).toBe(0);
  });

  test("prints the same audit entries as on the database, and with --limit 0 all of them", async () => {
    const person = { ...remote, ...(await through("auditor")) };
    for (const more of [[], ["--limit", "0"], ["--json"]]) {
      const list = ["audit", "list", "--event", event.eventId, ...more];
      expect(await runWithBreakGlass(person, ...list)).toEqual(await runWithBreakGlass(environment, ...list));
    }
    const own = await runWithBreakGlass(await through("operator"), "audit", "list", "--limit", "0", "--json");
    const actors = objects<{ actor: string }>(own.stdout).map(({ actor }) => actor);
    expect(actors.length).toBeGreaterThan(0);
    expect(actors.filter((actor) => !actor.startsWith("p ("))).toEqual([]);
  });

  test.each([["config"], ["config", "--json"]])("prints the configuration of the server: %s %s", async (...args) => {
    const served = { ...environment, DRS_PROCESSES: "1", DRS_PORT: "0", DRS_ADMIN_PORT: "0" };
    expect(await runWithBreakGlass(remote, ...args)).toEqual(await runWithBreakGlass(served, ...args));
  });

  test("examines the installation as on the database", async () => {
    const [there, here] = [await runWithBreakGlass(remote, "doctor"), await runWithBreakGlass(environment, "doctor")];
    const withoutTime = ({ stdout }: Printed): string =>
      stdout.replaceAll(/\d+ (?:milli)?seconds? between|[\d.]+ GiB?|\(\d+ ms\)$/gm, "");
    expect(withoutTime(there)).toBe(withoutTime(here));
    expect(there).toMatchObject({ code: 0, stderr: "" });
    expect(there.stdout).toMatch(/^ok {4}durability: fsync=/m);
    expect((await runWithBreakGlass(await through("analyst"), "doctor")).code).toBe(1);
  });

  test("makes the same changes as on the database", async () => {
    const { stdout } = await runWithBreakGlass(remote, "token", "issue", "--account", "customer-2", "--json");
    const [issued] = objects<{ token_id: string }>(stdout);
    const listed = await runWithBreakGlass(environment, "token", "list", "--account", "customer-2", "--json");
    expect(objects(listed.stdout)).toMatchObject([{ token_id: issued?.token_id, revoked_at: null }]);
    expect(await runWithBreakGlass(remote, "token", "revoke", issued?.token_id.slice(-8) ?? "")).toEqual({
      code: 0,
      stdout: `Revoked ${issued?.token_id}.\n`,
      stderr: "",
    });
    const again = ["token", "revoke", issued?.token_id ?? ""];
    expect(await runWithBreakGlass(remote, ...again)).toEqual(await runWithBreakGlass(environment, ...again));
  });

  test("applies a policy as on the database, and reports its problems in the same words", async () => {
    const apply = ["purpose", "apply", await policyFile("P2Y"), "--json"];
    const first = await runWithBreakGlass(remote, ...apply);
    expect(objects(first.stdout)).toMatchObject([{ version: 2, dry_run: false, changes: [{ purpose: "default" }] }]);
    const again = await runWithBreakGlass(remote, ...apply);
    expect(objects(again.stdout)).toEqual([{ version: 2, dry_run: false, changes: [] }]);
    expect(await runWithBreakGlass(environment, ...apply)).toEqual(again);
    const wrong = ["purpose", "apply", await policyFile("x")];
    const refused = await runWithBreakGlass(remote, ...wrong);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("is not a policy:\n  purposes.0.raw_retention: ");
    expect(refused).toEqual(await runWithBreakGlass(environment, ...wrong));
    expect(await runWithBreakGlass(await through("auditor", "operator"), ...apply)).toMatchObject({
      code: 1,
      stdout: "",
    });
  });

  test("opens events with a case or a reason", async () => {
    const investigator = await through("investigator");
    const get = ["event", "get", event.eventId];
    expect(await runWithBreakGlass(investigator, ...get)).toEqual(await runWithBreakGlass(environment, ...get));
    expect(await runWithBreakGlass(investigator, ...get, "--json")).toEqual(
      await runWithBreakGlass(environment, ...get, "--json"),
    );
    for (const key of [event.idempotencyKey, "unknown"]) {
      const timeline = ["event", "timeline", "--account", "customer-1", "--idempotency-key", key];
      expect(await runWithBreakGlass(investigator, ...timeline)).toEqual(
        await runWithBreakGlass(environment, ...timeline),
      );
    }
    const raw = { code: 0, stdout: event.exact, stderr: "" };
    for (const through of [investigator, environment]) {
      expect(await runWithBreakGlass(through, ...get, "--raw", ...WHY, "--ticket", "T-1")).toEqual(raw);
      const opened = await runWithBreakGlass(through, "case", "open", "--account", "customer-1", ...WHY);
      const [caseId = ""] = opened.stdout.split("\n");
      const withCase = [...get, "--raw", "--case", caseId];
      expect(await runWithBreakGlass(through, ...withCase)).toEqual(raw);
      expect((await runWithBreakGlass(through, "case", "list", "--open")).stdout).toContain(caseId);
      expect(await runWithBreakGlass(through, "case", "close", caseId)).toMatchObject({ code: 0, stderr: "" });
      expect(await runWithBreakGlass(through, ...withCase)).toMatchObject({ code: 1, stdout: "" });
      expect(await runWithBreakGlass(through, "case", "close", caseId)).toMatchObject({ code: 1, stdout: "" });
    }
    const listed = await runWithBreakGlass(environment, "audit", "list", "--event", event.eventId, "--json");
    const entries = objects<{ operation: string; outcome: string; via: string; ticket: string | null }>(listed.stdout);
    const reads = entries.filter(({ operation }) => operation === "event.read_raw");
    expect(reads.filter(({ outcome }) => outcome === "denied").map(({ via }) => via)).toEqual(["direct", "api"]);
    const read = reads.filter(({ outcome }) => outcome === "done");
    expect(read.map(({ via, ticket }) => `${via} ${ticket}`)).toEqual([
      "direct null",
      "direct T-1",
      "api null",
      "api T-1",
    ]);
    const away = ["event", "get", "019a0000-0000-7000-8000-000000000000"];
    expect(await runWithBreakGlass(investigator, ...away)).toMatchObject({ code: 1, stdout: "" });
    const restricted = await runWithBreakGlass(
      investigator,
      ...get,
      "--include-restricted",
      "--reason",
      "dispute 4711",
    );
    expect(restricted).toMatchObject({ code: 2, stdout: "" });
    expect(await runWithBreakGlass(await through("analyst"), ...get, "--raw", ...WHY)).toMatchObject({
      code: 1,
      stdout: "",
    });
  });

  test("shows the probes and fields of an event to its roles, as on the database", async () => {
    const show = ["event", "show", other.eventId];
    const investigator = await through("investigator");
    expect(await runWithBreakGlass(investigator, ...show), "without a reason").toMatchObject({ code: 2, stdout: "" });
    const shown = await runWithBreakGlass(investigator, ...show, ...WHY);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toMatch(/^os_integrity +skipped +"disabled"$/m);
    expect(shown.stdout).toMatch(/^network +omitted +-$/m);
    expect(shown.stdout).toMatch(/^account +customer-1$/m);
    const withoutEntry = ({ stdout, ...rest }: Printed): object => ({
      ...rest,
      text: stdout.replace(/^Audit entry .*/m, ""),
    });
    expect(withoutEntry(shown)).toEqual(withoutEntry(await runWithBreakGlass(environment, ...show, ...WHY)));
    const analyst = await runWithBreakGlass(await through("analyst"), "event", "show", event.eventId, ...WHY, "--json");
    const [{ audit_entry: entry, ...rest } = {}] = objects(analyst.stdout);
    expect(rest).toMatchObject({ event: { event_id: event.eventId }, withheld: ["/exact", "/n"], fields: [] });
    expect(rest).toMatchObject({
      probes: expect.arrayContaining([{ probe: "fonts", state: "omitted", reason: null }]),
    });
    const { stdout } = await runWithBreakGlass(environment, "audit", "list", "--event", event.eventId, "--json");
    expect(objects(stdout)[0]).toMatchObject({
      entry_id: entry,
      operation: "event.read_observations",
      reason: "dispute 4711",
    });
    expect(await runWithBreakGlass(await through("operator"), ...show, ...WHY)).toMatchObject({ code: 1, stdout: "" });
  });

  test("compares two events with a case that covers both, or on the database with a reason", async () => {
    const investigator = await through("investigator");
    const compare = ["event", "compare", event.eventId, other.eventId];
    expect(await runWithBreakGlass(investigator, ...compare)).toMatchObject({ code: 2, stdout: "" });
    const opened = await runWithBreakGlass(investigator, "case", "open", "--account", "customer-1", ...WHY);
    const [caseId = ""] = opened.stdout.split("\n");
    const printed = await runWithBreakGlass(investigator, ...compare, "--case", caseId);
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    expect(printed.stdout).toMatch(/^\/probes\/os_integrity +omitted +skipped: "disabled"$/m);
    expect(printed).toEqual(await runWithBreakGlass(environment, ...compare, ...WHY));
    const { stdout } = await runWithBreakGlass(environment, "audit", "list", "--event", other.eventId, "--json");
    expect(objects(stdout).slice(0, 2)).toMatchObject([
      { operation: "event.compare", via: "direct" },
      { operation: "event.compare", via: "api", category: "dispute" },
    ]);
    const all = await runWithBreakGlass(investigator, ...compare, "--case", caseId, "--all");
    expect(all.stdout).toMatch(/^\/probes\/os_integrity +not-comparable +omitted +skipped: "disabled"$/m);
    const same = [...compare.slice(0, 3), event.eventId, "--case", caseId, "--all", "--json"];
    const [whole] = objects<{ fields: object[] }>((await runWithBreakGlass(investigator, ...same)).stdout);
    expect(whole).toMatchObject({ differences: [], fields: [{ verdict: "equal" }, { path: "/n", verdict: "equal" }] });
  });

  test("registers and revokes actions as on the database", async () => {
    const register = ["action", "register", "--account", "customer-4", "--type", "payment", "--id", "order-1"];
    const first = await runWithBreakGlass(remote, ...register, "--json");
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(await runWithBreakGlass(environment, ...register, "--json")).toEqual(first);
    const other = [...register, "--session", "s"];
    expect(await runWithBreakGlass(remote, ...other)).toEqual(await runWithBreakGlass(environment, ...other));
    const revoke = ["action", "revoke", "order-1", "--account", "customer-4"];
    expect(await runWithBreakGlass(remote, ...revoke)).toEqual({ code: 0, stdout: "Revoked.\n", stderr: "" });
    expect(await runWithBreakGlass(remote, ...revoke)).toEqual(await runWithBreakGlass(environment, ...revoke));
    const { stdout } = await runWithBreakGlass(environment, "audit", "list", "--account", "customer-4", "--json");
    const entries = objects<{ operation: string; via: string }>(stdout);
    expect(entries.map(({ operation, via }) => `${operation} ${via}`)).toEqual([
      "action.revoke api",
      "action.register direct",
      "action.register api",
    ]);
  });

  test("is audited as the person of its token", async () => {
    await runWithBreakGlass(remote, "token", "issue", "--account", "customer-3");
    const { stdout } = await runWithBreakGlass(environment, "audit", "list", "--account", "customer-3", "--json");
    const [entry] = objects<{ actor: string; via: string; roles: string[] }>(stdout);
    expect(entry).toMatchObject({ via: "api", roles: ["operator", "analyst", "privacy", "auditor"] });
    expect(entry?.actor).toMatch(/^p \(admin token /);
  });

  test("fails if the roles of its token lack the permission, or if the token or the server is missing", async () => {
    const denied = await runWithBreakGlass(await through("auditor"), "token", "issue", "--account", "a");
    expect(denied).toMatchObject({ code: 1, stdout: "" });
    expect(denied.stderr).toContain("sessions.manage");
    const unknown = await runWithBreakGlass({ ...remote, DRS_ADMIN_TOKEN: "x" }, "token", "list");
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    const away = await runWithBreakGlass({ ...remote, DRS_ADMIN_URL: "http://127.0.0.1:9" }, "token", "list");
    expect(away).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "The admin API at http://127.0.0.1:9 can't be reached.\n",
    });
  });
});

/** Removes `last_used_at`, which changes with each call. */
const withoutUse = ({ code, stdout, stderr }: Printed): Printed => ({
  code,
  stderr,
  stdout: stdout.replaceAll(/\S+Z {2}-$/gm, "-  -").replaceAll(/- {2,}-$/gm, "-  -"),
});
