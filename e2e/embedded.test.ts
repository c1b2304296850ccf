/** The embedded PostgreSQL as operators meet it: private, shared, adopted, and clear about what is in its way. */
import { spawnSync } from "node:child_process";
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { EmbeddedPostgres } from "../packages/server/src/embedded-postgres/embedded-postgres.ts";
import { authorized, send, transport } from "./support/client.ts";
import { type Home, makeEmptyHome, makeHome, until } from "./support/embedded.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import {
  type CommandResult,
  type Credentials,
  credentials,
  runDrs,
  type ServerProcess,
  startServer,
} from "./support/server.ts";

const ROOT = join(import.meta.dirname, "..");
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
/** Whose the data is where only root may enter: in a chroot, say, root may make no user namespace. */
const KEEPER = spawnSync("unshare", ["--user", "true"]).status === 0 ? 0 : NOBODY;

const leftovers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const clean of leftovers.splice(0).toReversed()) await clean();
});

async function home(name?: string): Promise<Home> {
  const made = await makeEmptyHome(name);
  leftovers.push(() => made.remove());
  return made;
}

async function serve({ environment }: Home, more: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startServer({ ...environment, ...more });
  leftovers.push(async () => {
    if (server.process.exitCode === null && server.process.signalCode === null) await server.kill();
  });
  return server;
}

const lines = ({ stdout }: CommandResult): string[] =>
  stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");

const listTokens = ({ environment }: Home): Promise<CommandResult> => runDrs(environment, ["token", "list", "--json"]);

/** Makes the database and the secrets. */
const migrate = ({ environment }: Home): Promise<CommandResult> => runDrs(environment, ["migrate"]);

const issueToken = ({ environment }: Home, account = "a"): Promise<CommandResult> =>
  runDrs(environment, ["token", "issue", "--account", account, "--json"]);

/** A server that must not start. */
const refusedServe = ({ environment }: Home, more: Record<string, string> = {}): Promise<CommandResult> =>
  runDrs({ ...environment, ...more }, ["serve"]);

function expectRefused(result: CommandResult, ...messages: readonly (string | RegExp)[]): void {
  expect(result.code, result.stderr).toBe(1);
  expect(result.stdout.toString()).toBe("");
  for (const message of messages) expect(result.stderr).toMatch(message);
  expect(result.stderr).not.toMatch(/^\s+at /m);
}

/** The file that says "stopped" is deleted a moment before the process ends. */
async function expectStopped(place: Home): Promise<void> {
  await until(async () => (await place.postgres()).length === 0, 5_000);
}

async function sessionOf(pid = 0): Promise<string | undefined> {
  const [, fields = ""] = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ");
  return fields.split(" ")[3];
}

async function mode(path: string): Promise<number> {
  return (await lstat(path)).mode & 0o777;
}

async function everybodyMayEnter(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  return (mode & 0o001) !== 0 && (path === "/" || (await everybodyMayEnter(dirname(path))));
}

describe("what is on the disk is private", () => {
  test("the data directory, also one that was open, the socket in it, the log, and every key", async () => {
    const place = await home();
    await mkdir(place.dataDir);
    await chmod(place.dataDir, 0o777);
    expect((await migrate(place)).code).toBe(0);
    for (const name of ["", "postgres", "socket"]) expect(await mode(join(place.dataDir, name)), name).toBe(0o700);
    expect(await mode(join(place.dataDir, "postgres.log"))).toBe(0o600);

    expect(await mode(place.keyDir)).toBe(0o700);
    const keys = await readdir(place.keyDir, { recursive: true });
    expect(keys).toContain("key-encryption-key");
    for (const name of keys) expect((await mode(join(place.keyDir, name))) & 0o077, name).toBe(0);
  });

  test("a folder that is somebody else's is refused and left as it is", async () => {
    const place = await home();
    await mkdir(place.dataDir);
    await chmod(place.dataDir, 0o755);
    await writeFile(join(place.dataDir, "thesis.odt"), "");
    expectRefused(await listTokens(place), "holds other things", "DRS_DATA_DIR");
    expect(await mode(place.dataDir)).toBe(0o755);
    expect((await stat(place.dataDir)).uid).toBe(process.getuid?.());
    expect(await readdir(place.dataDir)).toEqual(["thesis.odt"]);
  });

  test.skipIf(!isRoot)("root keeps it from everybody else where only root may enter", async () => {
    const place = await home();
    expect(await mode(place.path)).toBe(0o700);
    await serve(place);
    expect((await stat(place.dataDir)).uid).toBe(KEEPER);
    expect((await stat(join(place.dataDir, "postgres"))).uid).toBe(KEEPER);
    expect((await issueToken(place)).code).toBe(0);
  });

  test.skipIf(!isRoot)(
    "root hands it to nobody where everybody may enter, and is not stuck when that changes",
    async () => {
      const place = await home();
      await chmod(place.path, 0o755);
      expect((await migrate(place)).code).toBe(0);
      expect((await issueToken(place)).code).toBe(0);
      const reachable = (await everybodyMayEnter(place.path)) && (await everybodyMayEnter(ROOT));
      expect((await stat(join(place.dataDir, "postgres"))).uid).toBe(reachable ? NOBODY : KEEPER);
      for (const mode of [0o700, 0o755]) {
        await chmod(place.path, mode);
        expect(lines(await listTokens(place))).toHaveLength(1);
      }
    },
  );
});

describe("one PostgreSQL for the server and every command", () => {
  let place: Home;
  let who: Credentials;

  beforeAll(async () => {
    place = await makeHome();
    expect((await migrate(place)).code).toBe(0);
    who = await credentials(place.environment);
  });

  afterAll(() => place.remove());

  test("commands work before, beside and after the server; the last to leave stops PostgreSQL", async () => {
    await expectStopped(place);

    const server = await serve(place);
    const running = await place.postgres();
    expect(running).toHaveLength(1);
    // A terminal sends Ctrl-C to a session: PostgreSQL must outlive the server's drain.
    expect(await sessionOf(running[0])).not.toBe(await sessionOf(server.process.pid));
    expect((await issueToken(place)).code).toBe(0);
    expect(await place.postgres()).toEqual(running);
    const answer = await send({ url: server.url, headers: authorized(who), body: JSON.stringify(transport(who)) });
    expect(answer.status, answer.text).toBe(201);

    expect(await server.stop()).toBe(0);
    await expectStopped(place);
    expect(lines(await listTokens(place))).toHaveLength(3);
    const { stdout } = await runDrs(place.environment, ["event", "list", "--json"]);
    expect(JSON.parse(stdout.toString())).toMatchObject({ event_id: answer.json["event_id"] });
    await expectStopped(place);
  });

  test("a command that is still at work keeps PostgreSQL when the server leaves", async () => {
    const server = await serve(place);
    const system = await openTestSystem(place.environment);
    const running = await place.postgres();
    expect(await server.stop()).toBe(0);
    expect(await place.postgres()).toEqual(running);
    expect((await makeCredentials(system, "late")).account).toBe("late");
    await system.close();
    await expectStopped(place);
  });

  test("a second server is refused, and the first does not notice", async () => {
    const server = await serve(place);
    expectRefused(await refusedServe(place), `another server runs on the data directory ${place.dataDir}`);
    expect((await send({ url: server.adminUrl, method: "GET", path: "/readyz" })).status).toBe(200);
    expect(server.stderr()).not.toContain('"error"');
    expect(await server.stop()).toBe(0);
    const next = await serve(place);
    expect(await next.stop()).toBe(0);
  });

  test("what a killed server leaves behind is adopted by the next", async () => {
    const first = await serve(place);
    const running = await place.postgres();
    const body = JSON.stringify(transport(who));
    const headers = authorized(who);
    expect((await send({ url: first.url, headers, body })).status).toBe(201);
    await first.kill();
    expect(await place.postgres()).toEqual(running);

    const second = await serve(place);
    expect(await place.postgres()).toEqual(running);
    expect((await send({ url: second.url, headers, body })).status).toBe(200);
    await second.kill();
    expect(await place.postgres()).toEqual(running);

    expect((await listTokens(place)).code).toBe(0);
    await expectStopped(place);
  });

  test("when both were killed, the next one starts over what remains", async () => {
    const server = await serve(place);
    const [pid = 0] = await place.postgres();
    await server.kill();
    process.kill(pid, "SIGKILL");
    await until(async () => (await place.postgres()).length === 0);
    expect(await listTokens(place)).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await runDrs(place.environment, ["event", "list", "--json"]);
    expect(stdout.toString()).not.toBe("");
  });

  test("commands that start together on a fresh directory make one cluster and all do their work", async () => {
    const place = await home();
    const accounts = ["a", "b", "c"];
    const made = await Promise.all(accounts.map(() => migrate(place)));
    expect(made.map(({ code, stderr }) => ({ code, stderr }))).toEqual(accounts.map(() => ({ code: 0, stderr: "" })));
    const results = await Promise.all(accounts.map((account) => issueToken(place, account)));
    expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      accounts.map(() => ({ code: 0, stderr: "" })),
    );
    const listed = lines(await listTokens(place)).map((line) => (JSON.parse(line) as { account: string }).account);
    expect(listed.toSorted()).toEqual(accounts);
    expect((await readdir(place.dataDir)).toSorted()).toEqual(["postgres", "postgres.log", "socket"]);
    await expectStopped(place);
  });

  test("users that leave together while others come neither wait for each other nor fall", async () => {
    const place = await home();
    const errors: unknown[] = [];
    const options = { dataDir: place.dataDir, asServer: false, onError: (error: unknown) => errors.push(error) };
    let users = [await EmbeddedPostgres.open(options), await EmbeddedPostgres.open(options)];
    for (let round = 0; round < 15; round++) {
      const leaving = users.map((user) => user.close());
      users = await Promise.all([EmbeddedPostgres.open(options), EmbeddedPostgres.open(options)]);
      await Promise.all(leaving);
    }
    await Promise.all(users.map((user) => user.close()));
    expect(errors).toEqual([]);
    await expectStopped(place);
  });

  test("of servers that start together on a fresh directory one serves, the other is told why not", async () => {
    const place = await home();
    const command = migrate(place);
    const started = await Promise.allSettled([serve(place), serve(place)]);
    const running = started.filter((result) => result.status === "fulfilled").map(({ value }) => value);
    const refused = started.filter((result) => result.status === "rejected").map(({ reason }) => String(reason));
    expect(running, refused.join("\n")).toHaveLength(1);
    expect(refused).toEqual([expect.stringContaining("another server runs on the data directory")]);
    expect(await place.postgres()).toHaveLength(1);
    expect(await command).toMatchObject({ code: 0, stderr: "" });
    expect(await running[0]?.stop()).toBe(0);
    await expectStopped(place);
  });
});

describe("paths", () => {
  test("too long for a Unix socket", async () => {
    const place = await home(`${"long-".repeat(30)}/${"deep-".repeat(30)}`);
    expect(place.dataDir.length).toBeGreaterThan(300);
    expect(await migrate(place)).toMatchObject({ code: 0, stderr: "" });
    expect(await issueToken(place)).toMatchObject({ code: 0, stderr: "" });
    const server = await serve(place);
    const [pid = 0] = await place.postgres();
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8");
    const [, socketDir = ""] = /\0-k\0"?([^"\0]+)/.exec(command) ?? [];
    leftovers.push(() => rm(socketDir, { recursive: true }));
    expect(await mode(socketDir)).toBe(0o700);
    expect(lines(await listTokens(place))).toHaveLength(2);
    expect(await server.stop()).toBe(0);
    await expectStopped(place);
  });

  test.each(["-D", 'two, "quoted", ünïcode \u{1F600}'])("named %s", async (name) => {
    const place = await home(name);
    expect(await migrate(place)).toMatchObject({ code: 0, stderr: "" });
    expect(await issueToken(place)).toMatchObject({ code: 0, stderr: "" });
    expect(lines(await listTokens(place))).toHaveLength(1);
  });
});

describe("what is in the way is said, with exit code 1", () => {
  /** Has a cluster, which no rejection changes. */
  let standing: Home;

  beforeAll(async () => {
    standing = await makeHome();
    expect((await migrate(standing)).code).toBe(0);
    expect((await issueToken(standing)).code).toBe(0);
  });

  afterAll(() => standing.remove());

  afterEach(async () => {
    await expectStopped(standing);
    expect(lines(await listTokens(standing))).toHaveLength(1);
  });

  test("a data directory below a file, or that is one", async () => {
    const place = await home();
    await writeFile(join(place.path, "file"), "");
    for (const path of [join(place.path, "file/data"), join(place.path, "file")]) {
      const environment = { ...place.environment, DRS_DATA_DIR: path };
      expectRefused(
        await runDrs(environment, ["token", "list"]),
        `the data directory ${path} can't be made`,
        "DRS_DATA_DIR",
      );
    }
  });

  test("a data directory that this user can't write", async ({ skip }) => {
    if (isRoot && !(await everybodyMayEnter(ROOT))) skip("another user can't get at this checkout");
    const place = await home();
    const asOther = isRoot ? { uid: NOBODY } : {};
    await chmod(place.path, isRoot ? 0o755 : 0o500);
    const result = await runDrs(place.environment, ["migrate"], asOther);
    await chmod(place.path, 0o700);
    expectRefused(result, `the data directory ${place.dataDir} can't be made`, "EACCES", "DRS_DATA_DIR");
  });

  test("a cluster of another major version, which is left alone", async () => {
    const file = join(standing.dataDir, "postgres/PG_VERSION");
    await writeFile(file, "17\n");
    const message = "is a cluster of PostgreSQL 17, and this server carries 18";
    expectRefused(await refusedServe(standing), message, "dump it with the old version");
    expectRefused(await listTokens(standing), message);
    expect(await readFile(file, "utf8")).toBe("17\n");
    await writeFile(file, "18\n");
  });

  test.each(["DRS_PORT", "DRS_ADMIN_PORT"])("a port that is taken: %s", async (variable) => {
    const holder = await new Promise<Server>((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => resolve(server));
    });
    leftovers.push(() => new Promise((resolve) => holder.close(resolve)));
    const { port } = holder.address() as { port: number };
    const result = await refusedServe(standing, { [variable]: String(port) });
    expectRefused(result, `port ${port} on 127.0.0.1 is taken by another program: choose another in ${variable}`);
  });

  test("an address that is none of this machine's", async () => {
    const result = await refusedServe(standing, { DRS_HOST: "192.0.2.1", DRS_TLS_TERMINATED_BY_PROXY: "true" });
    expectRefused(result, "EADDRNOTAVAIL", "DRS_PORT");
  });

  test("a key store that is empty or another installation's", async () => {
    const foreign = await home();
    expect((await migrate(foreign)).code).toBe(0);
    const kept = join(standing.path, "kept");
    await rename(standing.keyDir, kept);

    const none = "the key store has no secret of this installation: it is empty, or belongs to another database";
    expectRefused(await refusedServe(standing), none, "DRS_KEY_DIR");
    expectRefused(await refusedServe(standing, { DRS_KEY_DIR: foreign.keyDir }), none);
    expectRefused(await runDrs(standing.environment, ["doctor"]), none);

    await rm(standing.keyDir, { recursive: true, force: true });
    await rename(kept, standing.keyDir);
    expect((await runDrs(standing.environment, ["doctor"])).code).toBe(0);
  });

  test("another key-encryption key, or none that can be read", async () => {
    const other = { DRS_KEY_ENCRYPTION_KEY: randomBytes(32).toString("base64") };
    const wrong = await refusedServe(standing, other);
    expectRefused(wrong, "was wrapped by another key-encryption key");
    expect(wrong.stderr).not.toContain(other.DRS_KEY_ENCRYPTION_KEY);

    const file = join(standing.path, "key");
    const named = { DRS_KEY_ENCRYPTION_KEY_FILE: file };
    expectRefused(await refusedServe(standing, named), `the key-encryption key can't be read from ${file}: ENOENT`);
    await writeFile(file, "c2VjcmV0IHRoYXQgaXMgdG9vIHNob3J0\n");
    const short = await refusedServe(standing, named);
    expectRefused(short, `the key-encryption key in ${file} must be 32 bytes in base64`);
    expect(short.stderr).not.toContain("c2VjcmV0");

    await writeFile(file, await readFile(join(standing.keyDir, "key-encryption-key")));
    expect((await runDrs({ ...standing.environment, ...named }, ["token", "list"])).code).toBe(0);
  });
});
