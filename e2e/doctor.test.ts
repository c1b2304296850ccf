import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runWithBreakGlass, objects, type Printed } from "./support/command.ts";
import { connectAsOwner, startDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { runDrs, startServer } from "./support/server.ts";
import { advanceClock, CLOCK_FILE } from "./support/test-clock.ts";

let database: TestDatabase;
let environment: Record<string, string>;

beforeAll(async () => {
  // A test of this file disables fsync for all databases of its PostgreSQL.
  database = await startDatabase();
  environment = await database.environment();
  // The first start makes the secrets of the installation, which the doctor needs.
  await (await startServer(environment)).stop();
});

afterAll(() => database.close());

async function setFsync(value: "on" | "off"): Promise<void> {
  const owner = await connectAsOwner(environment);
  await owner.query(`alter system set fsync = ${value}`);
  await owner.query("select pg_reload_conf()");
  await until(async () => (await owner.query<{ fsync: string }>("show fsync")).rows[0]?.fsync === value);
  await owner.end();
}

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);

async function listed(...args: readonly string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await drs(...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout);
}

describe("drs doctor", () => {
  test("reports every check of a healthy system as passed, with exit code 0", async () => {
    const { code, stdout, stderr } = await drs("doctor");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const what of ["configuration", "database", "migrations", "keys", "clock", "durability"]) {
      expect(stdout).toMatch(new RegExp(`^ok {4}${what}: \\S`, "m"));
    }
    expect(stdout).toMatch(/^WARN {2}purposes: no policy: every event is kept without end/m);
    expect(stdout).not.toContain("FAIL");
    expect((await listed("doctor")).every(({ ok }) => ok === true)).toBe(true);
  });

  test("says how long each dependency took, warns of a slow one, and takes its time for no difference of clocks", async () => {
    const worker = createServer((_, response) => void setTimeout(() => response.end(), 4_200));
    worker.listen(0, "127.0.0.1");
    await once(worker, "listening");
    const workerUrl = `http://127.0.0.1:${(worker.address() as AddressInfo).port}`;
    const { code, stdout } = await runWithBreakGlass(
      { ...environment, DRS_WORKER_URL: workerUrl, DRS_DEPENDENCY_TIMEOUT: "30s" },
      "doctor",
    );
    worker.close();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {4}database: PostgreSQL .* \(\d+ ms\)$/m);
    expect(stdout).toMatch(/^WARN {2}worker: http:\S+ is ready, but slowly \(\d{4,} ms\)$/m);
    expect(stdout).toMatch(/^ok {4}clock: \d+ milliseconds? between/m);
  });

  test("continues after a worker that does not end its answer", async () => {
    const worker = createServer((_, response) => void response.writeHead(503).write("checking"));
    worker.listen(0, "127.0.0.1");
    await once(worker, "listening");
    const workerUrl = `http://127.0.0.1:${(worker.address() as AddressInfo).port}`;
    const settings = { ...environment, DRS_WORKER_URL: workerUrl, DRS_DEPENDENCY_TIMEOUT: "3s" };
    const { stdout } = await runWithBreakGlass(settings, "doctor");
    worker.closeAllConnections();
    worker.close();
    expect(stdout).toMatch(/^FAIL {2}worker: http:\S+: it can't be reached \(TimeoutError\)/m);
    expect(stdout).toMatch(/^ok {4}clock: /m);
  });

  test("says how old the latest recorded backup of each store is, and warns of one that is missing or too old", async () => {
    const backups = async (): Promise<unknown> =>
      (await listed("doctor"))
        .filter(({ what }) => what === "backups")
        .map(({ severity, detail }) => [severity, detail]);
    expect(await backups()).toEqual([["advice", "none is recorded: drs backup record"]]);
    expect(await drs("backup", "record", "--store", "events", "--at", "-1ms")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Recorded: a backup of the events of /),
    });
    expect(await backups()).toEqual([
      ["warning", expect.stringMatching(/^events: .* old; keys: none is recorded \(drs backup record --store keys\)/)],
    ]);
    expect(await drs("backup", "record", "--store", "keys", "--at", "-1ms")).toMatchObject({ code: 0 });
    expect(await backups()).toEqual([[undefined, expect.stringMatching(/^events: .* old; keys: .* old$/)]]);
    const kept = { ...environment, DRS_BACKUP_RETENTION: "0s" };
    const { stdout } = await runWithBreakGlass(kept, "doctor");
    expect(stdout).toMatch(/^WARN {2}backups: events: .* old, and its declared period of .* has ended/m);
    expect((await drs("status")).stdout).toMatch(/^Backups {7}events: .* old\n {14}keys: /m);
    expect((await drs("backup", "record", "--store", "keys", "--at", "2999-01-01")).stderr).toContain("in the future");
    expect(await listed("backup", "list")).toHaveLength(2);
  });

  test("warns, as the start does, about settings that work but are not fit for production", async () => {
    const exposed = { ...environment, DRS_ADMIN_HOST: "0.0.0.0" };
    const { code, stdout } = await runWithBreakGlass(exposed, "doctor");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^WARN {2}configuration: DRS_ADMIN_HOST is not loopback/m);
    const started = await startServer(exposed);
    await started.stop();
    const logged = objects(started.stderr()).filter(({ severity }) => severity === "warning");
    expect(logged.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/^DRS_ADMIN_HOST is not loopback/));
  });

  test("says what to do about each failed check, and exits with code 1", async () => {
    await setFsync("off");
    const { code, stdout, stderr } = await drs("doctor");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}durability: .*turn fsync on/m);
    expect(stderr).toBe("1 of 9 checks failed.\n".replace("9", String(stdout.trimEnd().split("\n").length)));
    await setFsync("on");
  });

  test("advises to compress the WAL of an external PostgreSQL, until it is compressed", async () => {
    const owner = await connectAsOwner(environment);
    const set = (to: string) =>
      owner.query(
        `do $$ begin execute format('alter database %I set wal_compression = ${to}', current_database()); end $$`,
      );
    const found = async () => (await drs("doctor")).stdout.split("\n").find((line) => line.includes("WAL: "));
    await set("off");
    expect(await found()).toContain("WAL: wal_compression=off: set it to lz4");
    await set("pglz");
    expect(await found()).toMatch(/^ok {4}WAL: wal_compression=pglz$/);
    await owner.end();
  });

  test("computes how long the declared disk of an external PostgreSQL lasts", async () => {
    const found = async (size?: string) => {
      const declared = size === undefined ? {} : { DRS_DATABASE_DISK_BYTES: size };
      const { code, stdout } = await runWithBreakGlass({ ...environment, ...declared }, "doctor");
      return { code, line: stdout.split("\n").find((line) => line.includes("  disk: ")) };
    };
    const rate = "[\\d.]+ [KM]iB a day";
    expect(await found()).toEqual({
      code: 0,
      line: expect.stringMatching(`^note  disk: unknown: .*DRS_DATABASE_DISK_BYTES; ${rate}$`),
    });
    expect(await found("999000000000000")).toEqual({
      code: 0,
      line: expect.stringMatching(`^ok    disk: 90\\d TiB free, ${rate}: full in ten years or later$`),
    });
    const empty = { ...(await database.environment()), DRS_DATABASE_DISK_BYTES: "999000000000000" };
    expect((await runDrs(empty, ["migrate"])).code).toBe(0);
    const { stdout } = await runWithBreakGlass(empty, "doctor");
    expect(stdout).toMatch(/^ok {4}disk: .* free, 0 bytes a day: does not fill at this rate$/m);
    expect(await found("1000000000")).toEqual({
      code: 1,
      line: expect.stringMatching(`^FAIL  disk: 0 bytes free, ${rate}: full in 0 days: enlarge it or shorten periods`),
    });
  });

  test("names the purposes whose partitions were not made in advance, and the locks that a query may take", async () => {
    expect((await drs("doctor")).stdout).toMatch(/^ok {4}partitions: \d partitions?, 0 past due, none missing ahead$/m);
    expect((await drs("doctor")).stdout).toMatch(
      /^ok {4}locks: a query over all partitions takes \d+ of the cluster's \d+ locks$/m,
    );
    const fresh = await database.environment();
    expect((await runDrs(fresh, ["migrate"])).code).toBe(0);
    const missing =
      /^note {2}partitions: 0 partitions, 0 past due, missing ahead: default from \S+Z: a running server makes them/m;
    expect((await runWithBreakGlass(fresh, "doctor")).stdout).toMatch(missing);
  });

  test("reports that the clocks of host and database differ, and exits with code 1", async () => {
    await advanceClock(environment, 60_000);
    expect(await runDrs(environment, ["doctor"])).toMatchObject({ code: 0, stderr: "" });
    const { [CLOCK_FILE]: _, ...machine } = environment;
    const { code, stdout } = await runWithBreakGlass(machine, "doctor");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}clock: (59|60) seconds between this host and the database: synchronise both/m);
  });

  test("tries the folders if the database is away, and names what it skips", async () => {
    const healthy = (await listed("doctor")).map(({ what }) => what);
    const away = { ...environment, DRS_DATABASE_URL: "postgresql://drs@127.0.0.1:1/drs" };
    const { code, stdout, stderr } = await runWithBreakGlass(away, "doctor", "--json");
    expect(code).toBe(1);
    expect(stderr).toMatch(/database/);
    const findings = objects(stdout);
    expect(findings.filter(({ ok, skipped }) => !ok && !skipped)).toMatchObject([{ what: "database" }]);
    expect(findings.filter(({ ok }) => ok).map(({ what }) => what)).toContain("key store");
    for (const { detail, skipped } of findings) if (skipped) expect(detail).toBe("skipped: needs the database");
    const named = new Set(findings.map(({ what }) => what));
    expect(healthy.filter((what) => !named.has(what))).toEqual([]);
    expect((await runWithBreakGlass(away, "doctor")).stdout).toMatch(/^skip {2}holds: skipped: needs the database$/m);
  });

  test("masks secrets as drs config does, including secrets in files and URLs", async () => {
    const secrets = {
      DRS_DATABASE_URL: "postgresql://drs:hunter2@db/drs",
      DRS_MIGRATION_DATABASE_URL: "postgresql://owner:hunter2@db/drs",
      DRS_KEY_ENCRYPTION_KEY: Buffer.alloc(32, "hunter2").toString("base64"),
      DRS_ACTION_SIGNING_SECRET: `hunter2${"x".repeat(32)}`,
      DRS_JWT_SECRET: `hunter2${"y".repeat(32)}`,
    };
    const others = {
      DRS_KEY_DIR: "keys",
      DRS_JWT_ISSUER: "i",
      DRS_JWT_AUDIENCE: "a",
      DRS_JWT_ALGORITHMS: "HS256,HS512",
    };
    for (const json of [[], ["--json"]]) {
      const { code, stdout } = await runWithBreakGlass({ ...secrets, ...others }, "config", ...json);
      expect(code).toBe(0);
      for (const hidden of ["hunter2", secrets.DRS_KEY_ENCRYPTION_KEY, "aHVudGVy"])
        expect(stdout).not.toContain(hidden);
      for (const name of Object.keys(secrets)) expect(stdout).toMatch(new RegExp(`"?${name}"?[=:]"?.*\\(set\\)`));
      expect(stdout).toContain("postgresql://drs:(set)@db/drs");
      expect(stdout).toMatch(/"?DRS_PORT"?[=:]8080/);
      expect(stdout).toContain("HS512");
    }
  });
});
