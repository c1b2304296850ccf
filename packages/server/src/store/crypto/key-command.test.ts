import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../../e2e/support/temporary-folder.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import { hasStarted, isRunning, wasStarted } from "../../../../../e2e/support/pid-file.ts";
import type { SourceDeadline } from "./cached-keys.ts";
import { keysOfCommand } from "./key-command.ts";

const KEY = randomBytes(32);
const TEXT = KEY.toString("base64");
const DEADLINE = { ms: 5_000 };
const ENVIRONMENT = { PATH: process.env["PATH"] };

/** Waits for less time than the commands sleep, so that only an ended command passes. */
const hasEnded = (pidFile: string): Promise<void> => until(async () => !(await isRunning(pidFile)), 20_000);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  folder = await temporaryFolder();
});

afterAll(() => folder.remove());

const shell = (script: string, ...args: readonly string[]): readonly string[] => ["sh", "-c", script, "sh", ...args];

/**
 * A deadline that expires only after a process has written its id to each of the files, because a slow machine needs
 * longer to start the processes.
 */
const afterStartOf = (...paths: readonly string[]): SourceDeadline => ({
  ms: 50,
  isProgressing: async () => !(await Promise.all(paths.map(hasStarted))).every(Boolean),
});

/** Checks that the error contains nothing that the command printed or received. @returns the error. */
async function failure(
  command: readonly string[],
  deadline: SourceDeadline = DEADLINE,
): Promise<Error & { code: string }> {
  const error: unknown = await keysOfCommand(command, ENVIRONMENT, deadline).then(
    () => expect.unreachable("it gave keys"),
    (caught: unknown) => caught,
  );
  const shown = inspect(error, { depth: 10, showHidden: true });
  for (const secret of [TEXT, "ECHO"]) expect(shown).not.toContain(secret);
  return error as Error & { code: string };
}

describe("a command that prints keys", () => {
  it("provides the printed keys, oldest first", async () => {
    const before = randomBytes(32);
    const lines = [before, KEY].map((key) => key.toString("base64"));
    expect(await keysOfCommand(["printf", "%s\\r\\n", ...lines], ENVIRONMENT, DEADLINE)).toEqual([before, KEY]);
    expect(await keysOfCommand(["printf", "%s", TEXT], ENVIRONMENT, DEADLINE)).toEqual([KEY]);
  });

  it("is run without a shell, with its arguments unchanged", async () => {
    const path = join(folder.path, "a $HOME; `b`");
    await writeFile(path, TEXT);
    expect(await keysOfCommand(["cat", path], ENVIRONMENT, DEADLINE)).toEqual([KEY]);
    expect(await failure([`echo ${TEXT}`])).toMatchObject({
      code: "key-source-unusable",
      message: expect.stringContaining("can't be started: ENOENT") as unknown,
    });
  });

  it("has the environment without the variables of this server, and an empty standard input", async () => {
    const environment = { ...ENVIRONMENT, DRS_ACTION_SIGNING_SECRET: "ECHO", PROVIDER_CREDENTIALS: TEXT };
    const script = 'test -z "$(cat)" && test -z "$(env | grep DRS_)" && echo "$PROVIDER_CREDENTIALS"';
    expect(await keysOfCommand(shell(script), environment, DEADLINE)).toEqual([KEY]);
  });

  it.each<[string, readonly string[], string]>([
    ["fails", shell(`echo ${TEXT}; echo ECHO >&2; exit 3`), "ended with exit code 3"],
    ["is killed", shell("kill -9 $$"), "was ended by SIGKILL"],
    ["is no program", [join("/nowhere", "client"), "ECHO"], "can't be started: ENOENT"],
    ["may not be run", ["/etc/passwd", "ECHO"], "can't be started: EACCES"],
    ["prints nothing", ["true"], "printed something else than keys: each line must be 32 bytes in base64"],
    ["prints garbage", ["printf", "ECHO \\377\\000 ECHO"], "printed something else than keys"],
    ["prints a key and more", shell(`echo ${TEXT}; echo ECHO`), "printed something else than keys"],
    ["prints without end", ["yes", TEXT], "printed more than 64 KiB"],
  ])("that %s is named with the cause, and its output is not", async (_, command, cause) => {
    const error = await failure(command);
    expect(error.code).toBe("key-source-unusable");
    expect(error.message).toContain(`the command in DRS_KEY_ENCRYPTION_KEY_COMMAND ${cause}`);
  });

  it("that exceeds the deadline is ended with its children", async () => {
    const pids = [join(folder.path, "late"), join(folder.path, "late-child")];
    const script = 'sleep 60 & echo $! > "$2"; echo $$ > "$1"; wait';
    expect(await failure(shell(script, ...pids), afterStartOf(...pids))).toMatchObject({
      code: "dependency-silent",
      message: "the command in DRS_KEY_ENCRYPTION_KEY_COMMAND did not end within 50 ms",
    });
    for (const pid of pids) await hasEnded(pid);
  });

  it("that leaves a child process, which keeps its output open, provides its keys, and the server ends the child", async () => {
    const pid = join(folder.path, "left");
    expect(await keysOfCommand(shell(`sleep 60 & echo $! > "$1"; echo ${TEXT}`, pid), ENVIRONMENT, DEADLINE)).toEqual([
      KEY,
    ]);
    await hasEnded(pid);
  });

  it("whose child has left the process group and keeps the output open fails at the deadline", async () => {
    const pid = join(folder.path, "daemon");
    const daemon = `setsid sh -c 'echo $$ > "$1"; exec sleep 60' sh "$1"`;
    const script = `${daemon} & until [ -s "$1" ]; do sleep 0.01; done; echo ${TEXT}`;
    expect(await failure(shell(script, pid), afterStartOf(pid))).toMatchObject({ code: "dependency-silent" });
    process.kill(Number(await readFile(pid, "utf8")), "SIGKILL");
  });

  it("ends when the server stops", async () => {
    const pid = join(folder.path, "stopped");
    const stopping = new AbortController();
    const running = keysOfCommand(shell('echo $$ > "$1"; sleep 60', pid), ENVIRONMENT, {
      ms: 60_000,
      stop: stopping.signal,
    });
    await wasStarted(pid);
    stopping.abort(new Error("the server stops"));
    await expect(running).rejects.toThrow("the server stops");
    await hasEnded(pid);
  });
});
