/**
 * A server as `npm start` runs it, on an embedded database that SQL has filled with events of earlier days. Its folder
 * can be kept, and a later run continues with it.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type pg from "pg";
import { freePort } from "../../e2e/support/free-port.ts";
import { readConfig } from "../../packages/server/src/base/config/config.ts";
import { openSystem } from "../../packages/server/src/runtime/system.ts";
import type { LoadOptions } from "./load.ts";
import { fill } from "./past-events.ts";
import { migrate, openScene, print, printed, READY } from "./scene.ts";

const DRS_PATH = join(import.meta.dirname, "../../packages/server/bin/drs.js");
const CONNECTIONS = 16;

export interface FilledServer {
  /** Number of events that SQL has written. */
  readonly filled: number;
  readonly owner: pg.Client;
  readonly adminUrl: string;
  /** What load is sent to, and the account that sends it: another one in each run. */
  readonly target: Pick<LoadOptions, "url" | "token" | "actionId" | "connections"> & { readonly account: string };
  /** Runs a command. @returns what it prints. */
  drs(...args: readonly string[]): Promise<string>;
  /** The token of a person who calls the admin API. */
  adminToken(person: string, ...roles: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

interface FillOptions {
  readonly events: number;
  /** The fill ends after this time, even if the database has fewer events. */
  readonly fillSeconds: number;
  readonly folder: string | undefined;
}

export async function openFilledServer({ events, fillSeconds, folder }: FillOptions): Promise<FilledServer> {
  const scene = await openScene(folder);
  const { DRS_DATABASE_URL: _, ...settings } = scene.environmentOf("drs");
  const environment = {
    ...settings,
    DRS_DATA_DIR: join(scene.folder, "data"),
    DRS_ERASURE_JOURNAL: join(scene.folder, "journal"),
    DRS_ADMIN_PORT: String(await freePort()),
    DRS_OPENED_EVENTS_LIMIT: "1000000",
  };
  const env = { ...process.env, ...environment };
  const drs = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [DRS_PATH, ...args], { env })).stdout;
  const tokenOf = async (...args: readonly string[]): Promise<string> =>
    (JSON.parse(await drs(...args, "--json")) as { token: string }).token;

  await migrate(DRS_PATH, env);
  const owner = await scene.createDatabase("drs", "-c search_path=drs -c timezone=UTC");
  const config = readConfig(environment, scene.folder);
  if (!config.ok) throw new Error(config.problems.join("\n"));
  const ports = { clock: Date, asServer: false, environment: process.env, onError: (): void => {} };
  const system = await openSystem(config.config, ports);
  const filled = await fill({ owner, secrets: system.secrets }, events, Date.now() + fillSeconds * 1_000);
  await system.close();
  print(`filled ${filled} of ${events} events`);

  const [account, actionId] = [`bench-${Date.now()}`, `act-${Date.now()}`];
  const token = await tokenOf("token", "issue", "--account", account, "--ttl", "24h");
  await drs("action", "register", "--account", account, "--type", "payment", "--id", actionId, "--ttl", "24h");
  const server = spawn(process.execPath, [DRS_PATH, "serve"], { env, stdio: ["ignore", "pipe", "ignore"] });
  const url = await printed(server, READY);
  return {
    filled,
    owner,
    adminUrl: `http://127.0.0.1:${environment.DRS_ADMIN_PORT}`,
    target: { url, token, actionId, connections: CONNECTIONS, account },
    drs,
    adminToken: (person, ...roles) =>
      tokenOf("admin-token", "issue", "--person", person, "--role", ...roles, "--ttl", "1d"),
    async close() {
      await stop(server);
      await owner.end();
      await scene.close();
    },
  };
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  server.removeAllListeners("exit");
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await ended;
}
