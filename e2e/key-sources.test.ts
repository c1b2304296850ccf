/**
 * Tests of key-encryption keys that a command prints, also one that asks Vault. Servers use these keys, and no output contains
 * one.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { authorized, send, transport } from "./support/client.ts";
import { runWithBreakGlass, objects, type Printed } from "./support/command.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { isRunning, wasStarted } from "./support/pid-file.ts";
import {
  type Credentials,
  issueCredentials,
  runDrs,
  type ServerProcess,
  spawnDrs,
  startServer,
} from "./support/server.ts";
import { startVault, type Vault } from "./support/vault.ts";

type Environment = Readonly<Record<string, string>>;

interface Event {
  readonly eventId: string;
  readonly text: string;
}

let database: TestDatabase;
let folder: string;
/** Texts that no output may contain: keys in base64, and the token for Vault. */
let secrets: string[];
let outputs: string[];

beforeAll(async () => {
  database = await sharedDatabase();
});

afterAll(() => database?.close());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-key-sources-"));
  [secrets, outputs] = [[], []];
});

afterEach(async () => {
  const output = outputs.join("\n");
  for (const secret of secrets) {
    expect(output).not.toContain(secret);
    expect(output).not.toContain(Buffer.from(secret, "base64").toString("hex"));
  }
  await rm(folder, { recursive: true, force: true });
});

/** The environment of a fresh database and key store. The test adds the key-encryption key. */
async function withoutKey(): Promise<Environment> {
  const { DRS_KEY_ENCRYPTION_KEY: _, ...environment } = await database.environment();
  return { ...environment, DRS_DEPENDENCY_TIMEOUT: "2s" };
}

/** Makes a random key in base64. */
function newKey(): string {
  const key = randomBytes(32).toString("base64");
  secrets.push(key);
  return key;
}

async function serve(environment: Environment): Promise<ServerProcess> {
  const server = await startServer(environment);
  onTestFinished(() => server.kill());
  server.process.once("close", () => outputs.push(server.stdout(), server.stderr()));
  return server;
}

/** Runs a command in this process. */
async function run(environment: Environment, ...args: readonly string[]): Promise<Printed> {
  const printed = await runWithBreakGlass(environment, ...args);
  outputs.push(printed.stdout, printed.stderr);
  return printed;
}

/** Starts a server that must not start. @returns the reason that it prints. */
async function refused(environment: Environment): Promise<string> {
  const { code, stdout, stderr } = await runDrs({ ...environment, DRS_PORT: "0", DRS_ADMIN_PORT: "0" }, ["serve"]);
  outputs.push(stdout.toString(), stderr);
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: "" });
  return stderr;
}

async function store(environment: Environment, server: ServerProcess, account: string): Promise<Event> {
  return storeAs(await issueCredentials(environment, account), server);
}

async function storeAs(who: Credentials, server: ServerProcess): Promise<Event> {
  const body = transport(who);
  const reply = await send({ url: server.url, headers: authorized(who), body: JSON.stringify(body) });
  expect(reply.status, reply.text).toBe(201);
  return { eventId: String(reply.json["event_id"]), text: JSON.stringify(body.observations) };
}

async function expectReadable(environment: Environment, ...events: readonly Event[]): Promise<void> {
  for (const { eventId, text } of events) {
    const printed = await run(environment, "event", "get", eventId, "--raw", "--reason", "r");
    expect(printed).toMatchObject({ code: 0, stdout: text });
  }
}

/** The number of secrets that each version wraps, oldest version first. */
async function countByVersion(environment: Environment): Promise<readonly number[]> {
  const { stdout } = await run(environment, "key", "list", "--json");
  return objects<{ secrets: number }>(stdout).map((version) => version.secrets);
}

const fromCommand = (environment: Environment, ...words: readonly string[]): Environment => ({
  ...environment,
  DRS_KEY_ENCRYPTION_KEY_COMMAND: JSON.stringify(words),
});

const shell = (environment: Environment, script: string): Environment => fromCommand(environment, "sh", "-c", script);

describe("a key that a command prints", () => {
  test("wraps the secrets of a server; a new one is used after SIGHUP, and the old one can then be removed", async () => {
    const printed = join(folder, "printed");
    const [first, second] = [newKey(), newKey()];
    await writeFile(printed, first);
    const environment = fromCommand(await withoutKey(), "cat", printed);
    const server = await serve(environment);
    const before = await store(environment, server, "one");
    expect((await run(environment, "config")).stdout).toContain("DRS_KEY_ENCRYPTION_KEY_COMMAND=(set)");
    expect((await run(environment, "doctor")).stdout).toContain(
      "the key-encryption key comes from the command in DRS_KEY_ENCRYPTION_KEY_COMMAND",
    );
    expect((await run(environment, "key", "rotate")).stderr).toMatch(/let it print a new key after the present one/);

    await writeFile(printed, `${first}\n${second}\n`);
    server.process.kill("SIGHUP");
    await until(() => server.stderr().includes("key-encryption key reloaded"));
    expect(await run(environment, "key", "rotate")).toMatchObject({ code: 0, stderr: "" });
    const after = await store(environment, server, "two");
    expect((await countByVersion(environment))[0]).toBe(0);
    await writeFile(printed, second);
    await expectReadable(environment, before, after);

    const who = await issueCredentials(environment, "three");
    await writeFile(printed, "spoilt");
    server.process.kill("SIGHUP");
    await until(() => server.stderr().includes("reload key-encryption key failed"));
    const kept = await storeAs(who, server);
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).not.toContain("spoilt");
    await writeFile(printed, second);
    await expectReadable(environment, kept);
  });

  test("is loaded by a running server when a rotation has wrapped its secrets under it", async () => {
    const printed = join(folder, "printed");
    const [first, second] = [newKey(), newKey()];
    await writeFile(printed, first);
    const environment = fromCommand(await withoutKey(), "cat", printed);
    const server = await serve(environment);
    await store(environment, server, "one");
    await writeFile(printed, `${first}\n${second}\n`);
    expect((await run(environment, "key", "rotate")).code).toBe(0);
    // The server drops secrets from memory within a second, and then reads secrets that the new key wraps.
    let account = 0;
    await until(async () => {
      const { length } = await countByVersion(environment);
      expect(length).toBe(2);
      const [under] = await countByVersion(environment);
      await store(environment, server, "one");
      await store(environment, server, `new-${account++}`);
      return (await countByVersion(environment))[0] === under;
    });
    expect(await server.stop()).toBe(0);
  });

  test.each([
    ["fails", "echo $KEY; echo $KEY >&2; exit 7", /ended with exit code 7\. Run it by hand/],
    ["prints garbage", "echo $KEY$KEY", /printed something else than keys: each line must be 32 bytes in base64/],
    ["hangs", "echo $KEY; sleep 60", /did not end within 300 ms/],
    [
      "is left by a process of another session that keeps its output open",
      "setsid sh -c ': > $FOLDER/left; exec sleep 2' & until [ -e $FOLDER/left ]; do sleep 0.01; done; echo $KEY",
      /did not end within 300 ms/,
    ],
  ])("is not used where the command %s: the server ends with the cause", async (_, script, cause) => {
    const environment = { ...(await withoutKey()), DRS_DEPENDENCY_TIMEOUT: "300ms" };
    const filled = script.replaceAll("$KEY", newKey()).replaceAll("$FOLDER", folder);
    expect(await refused(shell(environment, filled))).toMatch(cause);
  });

  test("is not used if the command prints without end", async () => {
    const { code, stderr } = await run(fromCommand(await withoutKey(), "yes", newKey()), "migrate");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/printed more than 64 KiB/) as unknown });
  });
});

test.each(["SIGINT", "SIGTERM"] as const)("%s at drs also ends the command that prints keys", async (signal) => {
  const pid = join(folder, "pid");
  const environment = { ...(await withoutKey()), DRS_DEPENDENCY_TIMEOUT: "60s" };
  const migrating = spawnDrs(shell(environment, `echo $$ > ${pid}; sleep 60`), ["migrate"]);
  const ended = once(migrating, "exit");
  await wasStarted(pid);
  migrating.kill(signal);
  expect(await ended).toEqual([null, signal]);
  await until(async () => !(await isRunning(pid)));
});

describe("a key that Vault unwraps, for deploy/vault/print-keys.mjs", () => {
  const PRINT_KEYS = join(import.meta.dirname, "../deploy/vault/print-keys.mjs");
  let vault: Vault;
  let wrapped: string;

  beforeEach(async () => {
    vault = await startVault(folder);
    secrets.push(vault.token);
    wrapped = join(folder, "wrapped");
    return () => vault.close();
  });

  const fromVault = (environment: Environment): Environment => ({
    ...fromCommand(environment, process.execPath, PRINT_KEYS),
    ...vault.environment,
    VAULT_WRAPPED_KEYS: wrapped,
    // It does not turn the check of Vault's certificate off.
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
  });

  const write = (...keys: readonly string[]): Promise<void> =>
    writeFile(wrapped, keys.map((key) => `${vault.wrap(key)}\n`).join(""));

  /** What the command itself prints to standard error, and that it ends with exit code 1 and prints no key. */
  async function failureOf(environment: Environment): Promise<string> {
    const child = spawn(process.execPath, [PRINT_KEYS], { env: { ...environment } });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    expect(await once(child, "close")).toEqual([1, null]);
    expect(stdout).toBe("");
    outputs.push(stderr);
    return stderr;
  }

  test("serves an installation from its first start, even if Vault is not reachable later", async () => {
    await write(newKey());
    const environment = fromVault(await withoutKey());
    expect(await run(environment, "migrate")).toMatchObject({ code: 0 });
    const server = await serve(environment);
    const stored = await store(environment, server, "one");
    await expectReadable(environment, stored);
    const who = await issueCredentials(environment, "two");
    const { asked } = vault;
    vault.behave((response) => void response.destroy());
    const body = JSON.stringify(transport(who));
    expect((await send({ url: server.url, headers: authorized(who), body })).status).toBe(201);
    expect(vault.asked).toBe(asked);
    expect((await fetch(`${server.adminUrl}/readyz`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });

  test("is not printed if it was wrapped with another context, or if Vault refuses or hangs", async () => {
    await writeFile(wrapped, vault.wrap(newKey(), Buffer.from("another").toString("base64")));
    const environment = fromVault(await withoutKey());
    const { stderr } = await run(environment, "migrate");
    expect(stderr).toContain("the command in DRS_KEY_ENCRYPTION_KEY_COMMAND ended with exit code 1");
    expect(await failureOf(environment)).toMatch(/^Vault answered 400: .*authentication failed/);
    await write(newKey());
    expect(await failureOf({ ...environment, VAULT_CONTEXT: "" })).toBe("VAULT_CONTEXT is not set\n");
    expect(await failureOf({ ...environment, VAULT_ADDR: "http://user:secret@192.0.2.1:8200" })).toBe(
      "VAULT_ADDR must start with https: beyond loopback\n",
    );
    await writeFile(join(folder, "two"), "s.one\ns.two\n");
    expect(await failureOf({ ...environment, VAULT_TOKEN_FILE: join(folder, "two") })).toBe(
      "VAULT_TOKEN_FILE holds no token for Vault\n",
    );
    expect(await failureOf({ ...environment, VAULT_TRANSIT_KEY: "other" })).toMatch(/^Vault answered 404/);
    expect(await failureOf({ ...environment, VAULT_WRAPPED_KEYS: "/nowhere" })).toContain("ENOENT");
    expect(await failureOf({ ...environment, NODE_EXTRA_CA_CERTS: "" })).toContain("self-signed certificate");
    vault.behave(() => {});
    expect(await refused({ ...environment, DRS_DEPENDENCY_TIMEOUT: "300ms" })).toContain("did not end within 300 ms");
  });

  test("replaces a key from a file or a command by one rotation each", async () => {
    const environment = await withoutKey();
    const [first, second, third] = [newKey(), newKey(), newKey()];
    const file = join(folder, "key");
    await writeFile(file, first);
    const byFile = { ...environment, DRS_KEY_ENCRYPTION_KEY_FILE: file };
    const server = await serve(byFile);
    const stored = await store(byFile, server, "one");
    expect(await server.stop()).toBe(0);

    const printed = join(folder, "printed");
    const byCommand = fromCommand(environment, "cat", printed);
    await writeFile(printed, second);
    expect((await run(byCommand, "key", "list")).stderr).toMatch(/wrapped by another key-encryption key/);
    await writeFile(printed, `${first}\n${second}\n`);
    expect(await run(byCommand, "key", "rotate")).toMatchObject({ code: 0, stderr: "" });
    await writeFile(printed, second);
    await expectReadable(byCommand, stored);

    const byVault = fromVault(environment);
    await write(second, third);
    expect(await run(byVault, "key", "rotate")).toMatchObject({ code: 0 });
    expect((await countByVersion(byVault))[0]).toBe(0);
    await write(third);
    await expectReadable(byVault, stored);
  });
});
