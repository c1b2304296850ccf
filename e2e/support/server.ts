/** The server and the command line as separate processes, as an operator runs them. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { drsOfRun } from "./bundle-drs.ts";
import { runWithBreakGlass, withBreakGlass } from "./command.ts";
import { clockOptions } from "./test-clock.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Number of processes of each server that tests start. */
export const PROCESSES = Number(process.env["TEST_PROCESSES"] ?? 1);

export interface ServerProcess {
  readonly url: string;
  readonly adminUrl: string;
  readonly process: ChildProcess;
  /** All text that was printed on standard output so far. */
  stdout(): string;
  stderr(): string;
  /** Sends SIGTERM, and waits for the end. Returns the exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL, and waits for the end. */
  kill(): Promise<void>;
}

export interface StartOptions {
  readonly cwd?: string;
  /** The checkout whose server is started; this one by default. */
  readonly root?: string;
  /** The id of the user who runs a command. Only root may choose the user. */
  readonly uid?: number;
}

function cleanEnvironment(environment: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => !entry[0].startsWith("DRS_") && entry[1] !== undefined,
  );
  // The commands must not use the `drs login` of the person who runs the tests.
  return { ...Object.fromEntries(inherited), XDG_CONFIG_HOME: "/nonexistent", ...environment };
}

/** The V8 options with which the server would restart itself. Tests pass them, because the restart takes time. */
export const V8_OPTIONS = [
  "--max-semi-space-size=8",
  "--initial-old-space-size=32",
  "--heap-growing-percent=50",
  "--v8-pool-size=1",
];

/** Few servers of tests live long enough to gain from the optimizing compilers, which take a tenth of their time. */
const WITHOUT_OPTIMIZATION = ["--no-opt", "--no-maglev"];

const drs = (root: string): string => (root === ROOT ? drsOfRun() : join(root, "packages/server/bin/drs.js"));

/** Starts `drs` with these arguments (`withBreakGlass`), and ignores its output. The caller ends the process. */
export const spawnDrs = (environment: Readonly<Record<string, string>>, args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [drs(ROOT), ...withBreakGlass(environment, args)], {
    cwd: ROOT,
    env: cleanEnvironment(environment),
    stdio: "ignore",
  });

export async function startServer(
  environment: Readonly<Record<string, string>>,
  { cwd = ROOT, root = ROOT }: StartOptions = {},
): Promise<ServerProcess> {
  if (cwd === ROOT && !("DRS_DATABASE_URL" in environment) && !("DRS_ERASURE_JOURNAL" in environment)) {
    throw new TypeError("an embedded server of a test would keep its journal in the checkout: set DRS_ERASURE_JOURNAL");
  }
  const options = [...clockOptions(environment), ...V8_OPTIONS, ...WITHOUT_OPTIMIZATION];
  const child = spawn(process.execPath, [...options, drs(root), "serve"], {
    cwd,
    env: cleanEnvironment({ DRS_PORT: "0", DRS_ADMIN_PORT: "0", DRS_PROCESSES: String(PROCESSES), ...environment }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const ready = await new Promise<RegExpExecArray | undefined>((resolve) => {
    const look = (): void => {
      const line = /is ready: (http\S+)\/api\/v1\//.exec(stdout);
      if (line) resolve(line);
    };
    child.stdout.on("data", look);
    void ended.then(() => resolve(undefined));
  });
  if (!ready) throw new Error(`the server did not start: ${stderr}`);
  return {
    url: ready[1] as string,
    adminUrl: /"admin":"([^"]+)"/.exec(stderr)?.[1] ?? "",
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    async stop() {
      child.kill("SIGTERM");
      return ended;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs `drs` with these arguments (`withBreakGlass`) in a separate process. */
export function runDrs(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
  { cwd = ROOT, root = ROOT, uid }: StartOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      // `drs` of an older checkout may lack the option `--break-glass`.
      [...clockOptions(environment), drs(root), ...(root === ROOT ? withBreakGlass(environment, args) : args)],
      // A process that does not end within 50 seconds is killed, so that no test leaves a process.
      {
        cwd,
        env: cleanEnvironment(environment),
        encoding: "buffer",
        maxBuffer: 64 * 1024 * 1024,
        timeout: 50_000,
        killSignal: "SIGKILL",
        ...(uid !== undefined && { uid, gid: uid }),
      },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === "number" ? error.code : -1) : 0;
        resolve({ code, stdout, stderr: stderr.toString() });
      },
    );
  });
}

export interface Credentials {
  readonly account: string;
  readonly token: string;
  readonly actionId: string;
  readonly actionType: string;
  readonly sessionId: string;
}

/**
 * Issues a token and registers an action through the command line. The token is valid for `ttl`, and the action for
 * `actionTtl`.
 */
export async function issueCredentials(
  environment: Readonly<Record<string, string>>,
  account = "customer-1",
  ttl = "1h",
  actionTtl = ttl,
): Promise<Credentials> {
  const [actionType, sessionId] = ["payment", `session-of-${account}`];
  const { token } = await printed(environment, "token", "issue", "--account", account, "--ttl", ttl);
  const registered = [
    "register",
    "--account",
    account,
    "--type",
    actionType,
    "--session",
    sessionId,
    "--ttl",
    actionTtl,
  ];
  const { action_id } = await printed(environment, "action", ...registered);
  return { account, token: String(token), actionId: String(action_id), actionType, sessionId };
}

/** The object that a command prints with `--json`. */
async function printed(
  environment: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runWithBreakGlass(environment, ...args, "--json");
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}
