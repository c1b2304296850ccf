/** Homes of embedded databases, with servers and commands on them. */
import { afterEach, expect } from "vitest";
import { type Home, makeEmptyHome, until } from "./embedded.ts";
import { INSTALLATION_LINE } from "./command.ts";
import { type CommandResult, runDrs, type ServerProcess, startServer } from "./server.ts";

/**
 * Makes embedded databases and servers. A test file creates the scene at its top; a hook of the scene removes them at
 * the end of each test.
 */
export class EmbeddedScene {
  /** Functions that run at the end of the test, in reverse order. */
  readonly leftovers: (() => Promise<unknown>)[] = [];

  constructor() {
    afterEach(async () => {
      for (const clean of this.leftovers.splice(0).toReversed()) await clean();
    });
  }

  readonly home = async (name?: string): Promise<Home> => {
    const home = await makeEmptyHome(name);
    this.leftovers.push(() => home.remove());
    return home;
  };

  readonly serve = async ({ environment }: Home): Promise<ServerProcess> => {
    const server = await startServer(environment);
    this.leftovers.push(async () => {
      if (server.process.exitCode === null && server.process.signalCode === null) await server.kill();
    });
    return server;
  };
}

export const lines = ({ stdout }: CommandResult): string[] =>
  stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");

export const listTokens = ({ environment }: Home): Promise<CommandResult> =>
  runDrs(environment, ["token", "list", "--json"]);

/** Makes the database and the secrets. */
/** Leaves out the line that names the installation. */
export async function migrate({ environment }: Home): Promise<CommandResult> {
  const result = await runDrs(environment, ["migrate"]);
  return { ...result, stderr: result.stderr.replace(INSTALLATION_LINE, "") };
}

export const issueToken = ({ environment }: Home, account = "a"): Promise<CommandResult> =>
  runDrs(environment, ["token", "issue", "--account", account, "--json"]);

/** Starts a server that must not start. */
export const refusedServe = ({ environment }: Home, more: Record<string, string> = {}): Promise<CommandResult> =>
  runDrs({ ...environment, ...more }, ["serve"]);

export function expectRefused(result: CommandResult, ...messages: readonly (string | RegExp)[]): void {
  expect(result.code, result.stderr).toBe(1);
  expect(result.stdout.toString()).toBe("");
  for (const message of messages) expect(result.stderr).toMatch(message);
  expect(result.stderr).not.toMatch(/^\s+at /m);
}

/** Waits until the PostgreSQL of the home has ended. Its pid file is deleted a moment before its process ends. */
export async function expectStopped(place: Home): Promise<void> {
  await until(async () => (await place.postgres()).length === 0);
}
