/** Tests of the end of a server: by SIGTERM to `npm start` and `npx`, and while its key directory hangs. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { send } from "./support/client.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { childrenOf, makeHome, until } from "./support/embedded.ts";
import { startServer, V8_OPTIONS } from "./support/server.ts";

const ROOT = join(import.meta.dirname, "..");

let database: TestDatabase;

beforeAll(async () => {
  database = await sharedDatabase();
});

afterAll(() => database?.close());

/** Starts a server by `npm` or `npx`, and waits until it is ready. */
async function startByNpm(environment: Readonly<Record<string, string>>, command = "npm start") {
  const ports = { DRS_PORT: "0", DRS_ADMIN_PORT: "0" };
  const [program = "", ...args] = command.split(" ");
  const npm = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, ...environment, ...ports },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [npm.stdout, npm.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(npm, "close");
  await until(() => output.includes("is ready: "));
  return { npm, pid: npm.pid as number, closed, output: () => output };
}

/** The children of a process, and the children of these. */
async function descendantsOf(pid: number): Promise<readonly number[]> {
  const children = await childrenOf(pid);
  return [...children, ...(await Promise.all(children.map(descendantsOf))).flat()];
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function commandOfChild(parent: number): Promise<readonly string[]> {
  const [child = ""] = (await readFile(`/proc/${parent}/task/${parent}/children`, "utf8")).split(" ");
  return (await readFile(`/proc/${child}/cmdline`, "utf8")).split("\0");
}

test.skipIf(process.platform === "win32")(
  "SIGTERM to npm start, which runs with the V8 options of a server, stops the server as SIGTERM to the server does",
  async () => {
    const { npm, pid, closed, output } = await startByNpm(await database.environment());
    const command = process.platform === "linux" ? await commandOfChild(pid) : V8_OPTIONS;
    npm.kill("SIGTERM");
    expect((await closed)[0], output()).toBe(0);
    expect(output()).toContain('"stopped"');
    expect(command).toEqual(expect.arrayContaining([...V8_OPTIONS]));
  },
);

test.skipIf(process.platform !== "linux").each(["npm start", "npx drs serve"])(
  "SIGTERM to %s leaves no server and no PostgreSQL of the embedded database",
  async (command) => {
    const home = await makeHome();
    const { npm, pid, closed, output } = await startByNpm(home.environment, command);
    const started = await descendantsOf(pid);
    const commands = await Promise.all(started.map((one) => readFile(`/proc/${one}/cmdline`, "utf8").catch(() => "")));
    expect(commands.join("\n")).toMatch(/drs(\.js)?\0serve[^]*postgres/);
    npm.kill("SIGTERM");
    await until(() => !started.some(isAlive), 20_000);
    await closed;
    expect(output()).toContain('"stopped"');
    await home.remove();
  },
);

test.skipIf(process.platform === "win32")(
  "a key directory that hangs is reported, and does not keep the process alive",
  async () => {
    const environment = await database.environment();
    const server = await startServer({ ...environment, DRS_DEPENDENCY_TIMEOUT: "1s", DRS_DRAIN_TIMEOUT: "200ms" });
    // Opening a named pipe without a writer hangs, like opening a file on a network file system that does not answer.
    const mark = join(environment["DRS_KEY_DIR"] ?? "", "mark");
    await rm(mark, { force: true });
    execFileSync("mkfifo", [mark]);
    try {
      await until(async () => {
        const { status, text } = await send({ url: server.adminUrl, method: "GET", path: "/readyz" });
        return status === 503 && text.includes("key store: does not answer");
      });
      const stopRequestedAt = Date.now();
      expect(await server.stop()).not.toBe(0);
      expect(Date.now() - stopRequestedAt).toBeLessThan(6_000);
      expect(server.stderr().trimEnd().split("\n").at(-1)).toBe("drs: ended although a file operation hangs");
    } finally {
      await server.kill();
      await (await open(mark, "r+")).close();
    }
  },
);
