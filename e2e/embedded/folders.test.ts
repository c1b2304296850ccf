/** Tests of the data directory and the key directory: their permissions, unusual paths, and what prevents the start. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Home, makeHome } from "../support/embedded.ts";
import {
  EmbeddedScene,
  expectRefused,
  expectStopped,
  issueToken,
  lines,
  listTokens,
  migrate,
  refusedServe,
} from "../support/embedded-scene.ts";
import { runDrs } from "../support/server.ts";

const ROOT = join(import.meta.dirname, "../..");
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
/**
 * The user who owns the data if only root may enter the folder: root, or `nobody` where root can't make a user
 * namespace, as in a chroot.
 */
const KEEPER = spawnSync("unshare", ["--user", "true"]).status === 0 ? 0 : NOBODY;

async function mode(path: string): Promise<number> {
  return (await lstat(path)).mode & 0o777;
}

async function everybodyMayEnter(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  return (mode & 0o001) !== 0 && (path === "/" || (await everybodyMayEnter(dirname(path))));
}

const { home, leftovers, serve } = new EmbeddedScene();

describe("the files of the embedded database", () => {
  test("(the socket, the log and every key) are private, even if every user could enter the data directory before", async () => {
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

  test("are not created in a folder with other files, which stays unchanged", async () => {
    const place = await home();
    await mkdir(place.dataDir);
    await chmod(place.dataDir, 0o755);
    await writeFile(join(place.dataDir, "thesis.odt"), "");
    expectRefused(await listTokens(place), "holds other things", "DRS_DATA_DIR");
    expect(await mode(place.dataDir)).toBe(0o755);
    expect((await stat(place.dataDir)).uid).toBe(process.getuid?.());
    expect(await readdir(place.dataDir)).toEqual(["thesis.odt"]);
  });

  test.skipIf(!isRoot)("belong to root if only root may enter the folder", async () => {
    const place = await home();
    expect(await mode(place.path)).toBe(0o700);
    await serve(place);
    expect((await stat(place.dataDir)).uid).toBe(KEEPER);
    expect((await stat(join(place.dataDir, "postgres"))).uid).toBe(KEEPER);
    expect((await issueToken(place)).code).toBe(0);
  });

  test.skipIf(!isRoot)(
    "belong to the user `nobody` if root starts the server and every user may enter the folder, and work after its mode has changed",
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

describe("an embedded database works in a folder", () => {
  test("whose path is too long for a Unix socket", async () => {
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

  test.each(["-D", 'two, "quoted", ünïcode \u{1F600}'])("that is named %s", async (name) => {
    const place = await home(name);
    expect(await migrate(place)).toMatchObject({ code: 0, stderr: "" });
    expect(await issueToken(place)).toMatchObject({ code: 0, stderr: "" });
    expect(lines(await listTokens(place))).toHaveLength(1);
  });
});

describe("a start ends with exit code 1 and a message", () => {
  /** A home with a cluster. A rejected start must not change it. */
  let existing: Home;

  beforeAll(async () => {
    existing = await makeHome();
    expect((await migrate(existing)).code).toBe(0);
    expect((await issueToken(existing)).code).toBe(0);
  });

  afterAll(() => existing.remove());

  afterEach(() => expectStopped(existing));

  test("for a data directory that is a file or below a file", async () => {
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

  test("for a data directory that this user can't write", async ({ skip }) => {
    if (isRoot && !(await everybodyMayEnter(ROOT))) skip("another user can't read this checkout");
    const place = await home();
    const asOther = isRoot ? { uid: NOBODY } : {};
    await chmod(place.path, isRoot ? 0o755 : 0o500);
    const result = await runDrs(place.environment, ["migrate"], asOther);
    await chmod(place.path, 0o700);
    expectRefused(result, `the data directory ${place.dataDir} can't be made`, "EACCES", "DRS_DATA_DIR");
  });

  test("for a user without a name, which PostgreSQL looks up", async ({ skip }) => {
    if (!isRoot || !(await everybodyMayEnter(ROOT))) skip("only root can start a command as a user without a name");
    const place = await home();
    const uid = 54_321;
    await chown(place.path, uid, uid);
    const result = await runDrs(place.environment, ["migrate"], { uid });
    expectRefused(result, "the user 54321 has no line in /etc/passwd", "DRS_DATABASE_URL (option database.url)");
  });

  test("for a cluster of another major version, which stays unchanged", async () => {
    const file = join(existing.dataDir, "postgres/PG_VERSION");
    await writeFile(file, "17\n");
    const message = "is a cluster of PostgreSQL 17, and this server carries 18";
    expectRefused(await refusedServe(existing), message, "dump it with the old version");
    expectRefused(await listTokens(existing), message);
    expect(await readFile(file, "utf8")).toBe("17\n");
    await writeFile(file, "18\n");
  });

  test.each(["DRS_PORT", "DRS_ADMIN_PORT"])("for a port that is in use: %s", async (variable) => {
    const holder = await new Promise<Server>((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => resolve(server));
    });
    leftovers.push(() => new Promise((resolve) => holder.close(resolve)));
    const { port } = holder.address() as { port: number };
    const result = await refusedServe(existing, { [variable]: String(port) });
    expectRefused(result, `port ${port} on 127.0.0.1 is taken by another program: choose another in ${variable}`);
  });

  test("for an address that this machine does not have", async () => {
    const result = await refusedServe(existing, { DRS_HOST: "192.0.2.1", DRS_TLS_TERMINATED_BY_PROXY: "true" });
    expectRefused(result, "EADDRNOTAVAIL", "DRS_PORT");
  });

  test("for a key store that is empty or belongs to another installation", async () => {
    const foreign = await makeHome();
    leftovers.push(() => foreign.remove());
    expect((await migrate(foreign)).code).toBe(0);
    const kept = join(existing.path, "kept");
    await rename(existing.keyDir, kept);

    const none = "the key store has no secret of this installation: it is empty, or belongs to another database";
    expectRefused(await refusedServe(existing), none, "DRS_KEY_DIR");
    expectRefused(
      await refusedServe(existing, { DRS_KEY_DIR: foreign.keyDir }),
      "the stores are of different installations",
    );
    expect(await runDrs(existing.environment, ["doctor"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(none),
    });

    await rm(existing.keyDir, { recursive: true, force: true });
    await rename(kept, existing.keyDir);
    expect((await runDrs(existing.environment, ["doctor"])).code).toBe(0);
  });

  test("for a key-encryption key that is not the one of the key store, or that can't be read", async () => {
    const other = { DRS_KEY_ENCRYPTION_KEY: randomBytes(32).toString("base64") };
    const wrong = await refusedServe(existing, other);
    expectRefused(wrong, "was wrapped by another key-encryption key");
    expect(wrong.stderr).not.toContain(other.DRS_KEY_ENCRYPTION_KEY);

    const file = join(existing.path, "key");
    const named = { DRS_KEY_ENCRYPTION_KEY_FILE: file };
    expectRefused(await refusedServe(existing, named), `the key-encryption key can't be read from ${file}: ENOENT`);
    await writeFile(file, "c2VjcmV0IHRoYXQgaXMgdG9vIHNob3J0\n");
    const short = await refusedServe(existing, named);
    expectRefused(short, `the key-encryption key in ${file} must be 32 bytes in base64`);
    expect(short.stderr).not.toContain("c2VjcmV0");

    await writeFile(file, await readFile(join(existing.keyDir, "key-encryption-key")));
    expect((await runDrs({ ...existing.environment, ...named }, ["token", "list"])).code).toBe(0);
  });

  test("and changes nothing of an existing installation", async () => {
    expect(lines(await listTokens(existing))).toHaveLength(1);
  });
});
