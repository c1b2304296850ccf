/** Runs `drs` in this process, and returns its output and exit code without the cost of a separate process. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import type { Context } from "../../packages/server/src/cli/context.ts";
import { createProgram } from "../../packages/server/src/cli/program.ts";
import { runProgram } from "../../packages/server/src/cli/run-program.ts";
import { clockOf } from "./test-clock.ts";

type Program = Pick<Awaited<ReturnType<typeof createProgram>>, "commands" | "name" | "options" | "registeredArguments">;

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

/** Runs a command with exactly these arguments. */
export async function runInFull(
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Printed> {
  const stdout = new Collector();
  const stderr = new Collector();
  const code = await runProgram(contextWith(environment, stdout, stderr), args);
  return { code, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** Runs a command with exactly these arguments. Leaves out the line that names the installation. */
export async function runAsGiven(
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Printed> {
  const { stderr, ...printed } = await runInFull(environment, ...args);
  return { ...printed, stderr: stderr.replace(INSTALLATION_LINE, "") };
}

/** A program that lists its commands and runs none. */
const program: Program = await createProgram(contextWith({}, new Collector(), new Collector()));

/** The arguments, with `--break-glass` added if the command has this option and works on an external database. */
export function withBreakGlass(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
): readonly string[] {
  if (environment["DRS_DATABASE_URL"] === undefined || environment["DRS_ADMIN_URL"] !== undefined) return args;
  return commandOf(args).options.some(({ long }) => long === "--break-glass") ? [...args, "--break-glass"] : args;
}

/** The command that the first words name. */
function commandOf(words: readonly string[]): Program {
  let command = program;
  for (const word of words) {
    const inner = command.commands.find((one) => one.name() === word);
    if (!inner) break;
    command = inner;
  }
  return command;
}

const NO_ID = "019a0000-0000-7000-8000-000000000000";

/** Arguments of a read for a legal claim, which also shows restricted events, and erased events that a hold keeps. */
export const PRIVACY = ["--include-restricted", "--reason", "a legal claim"] as const;

/** A value for each argument and required option, except ids and choices. `package.json` is also the path of a field. */
const VALUES: Readonly<Record<string, string>> = {
  account: "a",
  "action-id": "act_1",
  after: "found@2",
  approver: "x",
  at: "-1ms",
  before: "found@1",
  case: NO_ID,
  clock: "known",
  entry: "1",
  event: NO_ID,
  expires: "2999-01-31",
  feature: "found@1",
  features: "found@1",
  file: "docs/privacy/purposes.yaml",
  "idempotency-key": "k",
  "informed-on": "2026-01-31",
  labels: "package.json",
  out: "/nowhere/export.parquet",
  path: "package.json",
  person: "a",
  "public-key": "key.pem",
  purpose: "default",
  reason: "request 17",
  recipient: "x",
  review: "2999-01-31",
  role: "auditor",
  type: "t",
  version: "0123456789abcdef",
};

/** What commands need in addition to their required arguments and options. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  "event show": ["--reason", "request 17"],
  "event compare": ["--reason", "request 17"],
  "case open": ["--account", "a"],
  "erase plan": ["--account", "a"],
  "erase run": ["--account", "a"],
  "admin-token revoke": [NO_ID],
  "session revoke": [NO_ID],
  "hold add": ["--account", "a"],
  "restriction add": ["--approver", "x"],
  "feature get": ["--event", NO_ID],
  "feature verify": [NO_ID],
  "feature compare": ["--all"],
  "export raw": ["--account", "a"],
};

function valueOf(name: string, [choice]: readonly string[] = []): string {
  const value = choice ?? VALUES[name] ?? (/(?:^|-)id$/.test(name) ? NO_ID : undefined);
  if (value === undefined) throw new Error(`give ${name} a value in VALUES of e2e/support/command.ts`);
  return value;
}

/** Arguments with which a command is correct usage, and does not ask. */
export function argumentsOf(name: string): readonly string[] {
  const { registeredArguments, options } = commandOf(name.split(" "));
  return [
    ...registeredArguments.filter(({ required }) => required).map((one) => valueOf(one.name(), one.argChoices)),
    ...options
      .filter(({ mandatory }) => mandatory)
      .flatMap((one) => [one.long ?? "", valueOf(one.name(), one.argChoices)]),
    ...(ALSO[name] ?? []),
    ...(options.some(({ long }) => long === "--yes") ? ["--yes"] : []),
  ];
}

/** The names of all commands, without groups such as `erase`. */
export function leafCommands(): readonly string[] {
  const names = everyCommand().map((path) => path.join(" "));
  return names.filter((name) => name !== "" && !names.some((other) => other.startsWith(`${name} `)));
}

/**
 * Commands that work on no installation of any kind: they work on a folder of files, on an endpoint or on a running
 * server, make an installation of their own, or refuse an external database.
 */
export const LOCAL: ReadonlySet<string> = new Set([
  "bench",
  "capacity",
  "demo",
  "console link",
  "live",
  "completion",
  ...["init", "test", "lock", "list", "show"].map((name) => `feature ${name}`),
]);

/** The names of commands and groups that pages show. @param pages patterns, from the root of the repository */
export function shownCommands(pages: readonly string[]): readonly ShownCommand[] {
  const cwd = join(import.meta.dirname, "../..");
  return globSync([...pages], { cwd }).flatMap((page) =>
    [
      ...readFileSync(join(cwd, page), "utf8").matchAll(
        /(?:npx |`|^ *)drs ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?(?: ([a-z][a-z-]*))?/gm,
      ),
    ].map(([, ...words]) => ({ page, words: words.filter((word) => word !== undefined) })),
  );
}

export interface ShownCommand {
  readonly page: string;
  /** The name, and perhaps further words. */
  readonly words: readonly string[];
}

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
