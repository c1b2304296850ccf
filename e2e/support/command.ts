/** Runs `drs` in this process, and returns its output and exit code without the cost of a separate process. */
import { Writable } from "node:stream";
import type { Context } from "../../packages/server/src/cli/context.ts";
import { createProgram } from "../../packages/server/src/cli/program.ts";
import { runProgram } from "../../packages/server/src/cli/run-program.ts";
import { clockOf } from "./test-clock.ts";

type Program = Pick<Awaited<ReturnType<typeof createProgram>>, "commands" | "name" | "options">;

export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

class Collector extends Writable {
  readonly chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.chunks.push(Buffer.from(chunk));
    done();
  }

  override toString(): string {
    return Buffer.concat(this.chunks).toString();
  }
}

/** The context of a process that gets no signal. */
export const contextWith = (
  environment: Readonly<Record<string, string>>,
  stdout: Writable,
  stderr: Writable,
): Context => ({
  environment,
  directory: process.cwd(),
  clock: clockOf(environment),
  stdout,
  stderr,
  isTerminal: false,
  kill: () => {},
  onInterrupt: () => {},
  onSignal: () => {},
});

/** Runs a command. On an external database it adds `--break-glass` if the command has this option. */
export const runWithBreakGlass = (
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Printed> => runAsGiven(environment, ...withBreakGlass(environment, args));

/** The line on standard error with which a command says which installation it verifies or destroys data of. */
export const INSTALLATION_LINE = /^Installation .*\n/gm;

/** Runs a command with exactly these arguments. Leaves out the line that names the installation. */
export async function runAsGiven(
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Printed> {
  const stdout = new Collector();
  const stderr = new Collector();
  const code = await runProgram(contextWith(environment, stdout, stderr), args);
  return { code, stdout: stdout.toString(), stderr: stderr.toString().replace(INSTALLATION_LINE, "") };
}

/** A program that lists its commands and runs none. */
const program: Program = await createProgram(contextWith({}, new Collector(), new Collector()));

/** The arguments, with `--break-glass` added if the command has this option and works on an external database. */
export function withBreakGlass(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
): readonly string[] {
  if (environment["DRS_DATABASE_URL"] === undefined || environment["DRS_ADMIN_URL"] !== undefined) return args;
  let command = program;
  for (const word of args) {
    const inner = command.commands.find((one) => one.name() === word);
    if (!inner) break;
    command = inner;
  }
  return command.options.some(({ long }) => long === "--break-glass") ? [...args, "--break-glass"] : args;
}

const NO_ID = "019a0000-0000-7000-8000-000000000000";

/** Arguments of a read for a legal claim, which also shows restricted events, and erased events that a hold keeps. */
export const PRIVACY = ["--include-restricted", "--reason", "a legal claim"] as const;

/** Arguments with which each command is correct usage. The other commands of an installation need none. */
export const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  "token issue": ["--account", "a"],
  "token revoke": [NO_ID],
  "action register": ["--account", "a", "--type", "t"],
  "action revoke": ["act_1", "--account", "a"],
  "event get": [NO_ID],
  "event show": [NO_ID, "--reason", "request 17"],
  "event compare": [NO_ID, NO_ID, "--reason", "request 17"],
  "event timeline": ["--account", "a", "--idempotency-key", "k"],
  "case open": ["--account", "a", "--category", "dispute", "--reason", "request 17"],
  "case close": [NO_ID],
  "erase plan": ["--account", "a"],
  "erase run": ["--account", "a", "--reason", "request 17", "--yes"],
  "erase accept-loss": ["--entry", "1", "--reason", "the disk failed", "--yes"],
  "receipt verify": ["receipt.jws", "--public-key", "key.pem"],
  "receipt get": [NO_ID],
  "approval show": [NO_ID],
  "approval approve": [NO_ID],
  "approval deny": [NO_ID],
  "approval withdraw": [NO_ID],
  "admin-token issue": ["--person", "a", "--role", "auditor"],
  "admin-token revoke": [NO_ID],
  "session revoke": [NO_ID],
  "key destroy": ["0123456789abcdef"],
  "key accept-loss": ["--reason", "no copy has them"],
  "request add": ["--account", "a", "--kind", "erasure"],
  "request extend": [NO_ID, "--reason", "request 17"],
  "request close": [NO_ID, "--outcome", "refused", "--reason", "request 17"],
  "account export": ["--account", "a", "--out", "/nowhere/export", "--reason", "request 17"],
  "hold add": ["--account", "a", "--reason", "request 17", "--approver", "x", "--review", "2999-01-31"],
  "hold review": [NO_ID, "--review", "2999-01-31", "--approver", "x"],
  "hold lift": [NO_ID, "--reason", "request 17", "--yes"],
  "restriction add": ["--account", "a", "--article", "18", "--reason", "request 17", "--approver", "x"],
  "restriction lift": [NO_ID, "--informed-on", "2026-01-31", "--reason", "request 17", "--yes"],
  "audit export": ["--out", "/nowhere/audit.ndjson"],
  "audit proof": [NO_ID],
  "audit prune": ["--yes"],
  "audit epoch": ["--reason", "request 17"],
  "review open": [NO_ID, "--reason", "request 17"],
  "review close": [NO_ID, "--reason", "request 17"],
  "purpose apply": ["docs/privacy/purposes.yaml"],
  "drift show": ["fonts.novel"],
  "drift accept": ["fonts.novel", "--type", "boolean", "--sensitivity", "low", "--reason", "review 17"],
  "drift classify": ["fonts.novel", "--sensitivity", "low", "--reason", "review 17"],
  "drift ignore": ["fonts.novel", "--reason", "review 17"],
  "drift reject": ["fonts.novel", "--reason", "review 17"],
  "feature propose": ["package.json", "--reason", "review 17"],
  "feature equivalent": ["package.json", "--reason", "review 17"],
  "feature adopt": ["found@1", "--purpose", "default", "--reason", "review 17"],
  "feature retire": ["found@1", "--purpose", "default", "--reason", "review 17"],
  "feature backfill start": ["--purpose", "default", "--reason", "review 17"],
  "feature backfill pause": [NO_ID],
  "feature backfill resume": [NO_ID],
  "feature backfill cancel": [NO_ID],
  "feature get": ["--event", NO_ID],
  "feature explain": [NO_ID, "found@1"],
  "feature verify": [NO_ID],
  "feature compare": ["found@1", "found@2", "--purpose", "default", "--all"],
  "export run": [
    "--labels=package.json",
    "--features=found@1",
    "--purpose=default",
    "--clock=known",
    "--recipient=x",
    "--reason=model 17",
    "--expires=2999-01-31",
    "--out=/nowhere/export.parquet",
  ],
  "export raw": [
    "--case",
    NO_ID,
    "--account=a",
    "--recipient=x",
    "--expires=2999-01-31",
    "--out=/nowhere/events.ndjson",
  ],
  "export verify": ["/nowhere/export.parquet"],
  "export repeat": [NO_ID, "--labels", "package.json", "--reason", "model 17", "--out", "/nowhere/export.parquet"],
  "export recall": [NO_ID],
  "export acknowledge": [NO_ID, "--reason", "a letter"],
};

/** The names of all commands, without groups such as `erase`. */
export function leafCommands(): readonly string[] {
  const names = everyCommand().map((path) => path.join(" "));
  return names.filter((name) => name !== "" && !names.some((other) => other.startsWith(`${name} `)));
}

/** Commands that work on a folder of files, on an endpoint or on a running server, and use no database. */
export const LOCAL: ReadonlySet<string> = new Set([
  "bench",
  "live",
  "completion",
  ...["init", "test", "lock", "list", "show"].map((name) => `feature ${name}`),
]);

/** The names of all commands that use an installation, without groups. */
export const commandsOfInstallation = (): readonly string[] => leafCommands().filter((name) => !LOCAL.has(name));

/** Every command as a list of words, including groups and the program itself. */
export function everyCommand(): (readonly string[])[] {
  const walk = (from: Program, path: readonly string[]): (readonly string[])[] => [
    path,
    ...from.commands.flatMap((inner) => walk(inner, [...path, inner.name()])),
  ];
  return walk(program, []);
}

/** The objects that `--json` prints, one in each line. */
export function objects<T = Record<string, unknown>>(text: string): T[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

/** The environment of commands that use a server's admin API. It has a new admin token with these roles. */
export async function remoteEnvironment(
  environment: Readonly<Record<string, string>>,
  adminUrl: string,
  roles: readonly string[],
  person = "p",
): Promise<Record<string, string>> {
  const args = ["admin-token", "issue", "--person", person, "--role", ...roles, "--json"];
  const [issued] = objects<{ token: string }>((await runWithBreakGlass(environment, ...args)).stdout);
  return { DRS_ADMIN_URL: adminUrl, DRS_ADMIN_TOKEN: issued?.token ?? "" };
}
