/**
 * Parts that every bench with a server needs: one PostgreSQL with one configuration (fsync on), databases in it, and
 * load.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { binariesIn } from "../../e2e/support/start-postgres.ts";
import { type Binaries, findBinaries } from "../../packages/server/src/runtime/embedded-postgres/binaries.ts";
import { EmbeddedPostgres } from "../../packages/server/src/runtime/embedded-postgres/embedded-postgres.ts";
import type { LoadOptions, LoadResult } from "./load.ts";

export interface Scene {
  readonly folder: string;
  /** Process id of PostgreSQL. */
  readonly postmaster: number;
  readonly url: (database: string) => string;
  /** Makes a database unless it exists, and connects to it. */
  readonly createDatabase: (name: string, options?: string) => Promise<pg.Client>;
  /** The environment of a server that stores events in this database and has no rate limit for accounts. */
  readonly environmentOf: (database: string) => Record<string, string>;
  readonly close: () => Promise<void>;
}

/**
 * Migrates the database of an environment. A server of an earlier release has no such command and migrates when it
 * starts.
 */
export async function migrate(drs: string, env: NodeJS.ProcessEnv): Promise<void> {
  await promisify(execFile)(process.execPath, [drs, "migrate"], { env }).catch((error: unknown) => {
    if (!String((error as { stderr?: unknown }).stderr).includes("unknown command")) throw error;
  });
}

/** The key-encryption key in a folder. A later run needs the same key. */
async function keyOf(folder: string): Promise<string> {
  const path = join(folder, "key-encryption-key");
  await writeFile(path, randomBytes(32).toString("base64"), { flag: "wx", mode: 0o600 }).catch(() => {});
  return readFile(path, "utf8");
}

/** Functions that end what still runs. They are called when this process ends, also after an error or Ctrl+C. */
const atExit = new Set<() => void>();
process.once("exit", () => {
  for (const end of atExit) end();
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/** Kills a process if it still runs at the end of this one. */
export function endAtExit(child: ChildProcess): void {
  const end = (): void => void child.kill("SIGKILL");
  atExit.add(end);
  child.once("exit", () => atExit.delete(end));
}

/** Another PostgreSQL than the embedded one, and settings that the embedded one has not. */
export interface PostgresOptions {
  /** The `bin` folder of an installed PostgreSQL. */
  readonly bin?: string | undefined;
  /** Such as `shared_buffers=2GB`. */
  readonly settings?: readonly string[] | undefined;
}

/** @returns binaries whose `postgres` is a script that adds settings. */
async function binariesWith({ bin, settings = [] }: PostgresOptions, folder: string): Promise<Binaries> {
  const binaries = bin === undefined ? await findBinaries() : binariesIn(bin);
  const postgres = join(folder, "postgres-with-settings");
  const words = settings.map((setting) => `-c '${setting}'`).join(" ");
  await writeFile(postgres, `#!/bin/sh\nexec '${binaries.postgres}' "$@" ${words}\n`, { mode: 0o755 });
  await chmod(folder, 0o755);
  return { ...binaries, postgres };
}

/** @param kept a folder that is not deleted at the end, so that a later run can continue with it. */
export async function openScene(kept?: string, postgres: PostgresOptions = {}): Promise<Scene> {
  const folder = kept === undefined ? await mkdtemp(join(tmpdir(), "drs-bench-")) : resolve(kept);
  await mkdir(folder, { recursive: true });
  const dataDir = join(folder, "data");
  const key = await keyOf(folder);
  const binaries = await binariesWith(postgres, folder);
  const embedded = await EmbeddedPostgres.open({ dataDir, asServer: false, binaries, onError: () => {} });
  const url = (database: string): string =>
    `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(embedded.owner.host ?? "")}`;
  const postmaster = Number((await readFile(join(dataDir, "postgres/postmaster.pid"), "utf8")).split("\n")[0]);
  const end = (): void => {
    process.kill(postmaster, "SIGQUIT");
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  };
  atExit.add(end);
  return {
    folder,
    postmaster,
    url,
    async createDatabase(name, options) {
      const admin = new pg.Client({ connectionString: url("postgres") });
      await admin.connect();
      const { rowCount } = await admin.query("select from pg_database where datname = $1", [name]);
      if (rowCount === 0) await admin.query(`create database ${name}`);
      await admin.end();
      const client = new pg.Client({ connectionString: url(name), ...(options !== undefined && { options }) });
      client.on("error", () => {});
      await client.connect();
      return client;
    },
    environmentOf: (database) => ({
      DRS_DATABASE_URL: url(database),
      DRS_KEY_DIR: join(folder, `${database}-keys`),
      DRS_KEY_ENCRYPTION_KEY: key,
      DRS_THROTTLE_RATE: "0",
      DRS_PORT: "0",
      DRS_ADMIN_PORT: "0",
    }),
    async close() {
      await embedded.close();
      atExit.delete(end);
      if (kept === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Matches what a server prints when it is ready. The first group is the URL. */
export const READY = /is ready: (http:\/\/[^/\s]+)/;

/** Waits until a process prints a match. The process does not outlive this one. @returns the first group. @throws if the process ends before. */
export function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  endAtExit(child);
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const found = pattern.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`a process ended before it printed ${pattern}`)));
  });
}

let runCount = 0;

/** Sends load from a separate process. @throws Error if a request failed. */
export async function load(settings: Omit<LoadOptions, "run">): Promise<LoadResult> {
  const result = await loadWithRejections(settings);
  if (result.failed > 0) throw new Error(`${settings.url}: ${result.failed} requests failed`);
  return result;
}

/** Sends load from a separate process. The server may reject requests. */
export const loadWithRejections = (settings: Omit<LoadOptions, "run">): Promise<LoadResult> =>
  resultOf(spawnLoad(settings));

/** Sends load from a separate process until it is stopped. Its first request was sent when this function returns. */
export async function startLoad(
  settings: Omit<LoadOptions, "run" | "seconds">,
): Promise<{ stop(): Promise<LoadResult> }> {
  const child = spawnLoad({ ...settings, seconds: Number.MAX_SAFE_INTEGER });
  const result = resultOf(child);
  await printed(child, /^(sending)/);
  return {
    stop() {
      child.kill("SIGTERM");
      return result;
    },
  };
}

function spawnLoad(settings: Omit<LoadOptions, "run">): ChildProcess {
  const text = JSON.stringify({ ...settings, run: ++runCount });
  const load = join(import.meta.dirname, "load.ts");
  return spawn(process.execPath, [load, text], { stdio: ["ignore", "pipe", "inherit"] });
}

const resultOf = async (child: ChildProcess): Promise<LoadResult> =>
  JSON.parse(await printed(child, /(\{.*\})\n/)) as LoadResult;

/** The first lines of a table of figures. */
export const HEAD = "| figure | value | goal | verdict |\n| --- | --- | --- | --- |";

/** A line of a table: a figure, its goal, and whether the figure reaches the goal. @param goal the maximum. */
export function figureLine(what: string, value: number, unit: string, goal: number): string {
  const rounded = value >= 100 ? value.toFixed(0) : value.toFixed(1);
  return `| ${what} | ${rounded} ${unit} | ≤ ${goal} ${unit} | ${value <= goal ? "reached" : "not reached"} |`;
}

/** A line of a table for a ratio whose goal is a minimum. */
export const ratioLine = (what: string, ratio: number, least: number): string =>
  `| ${what} | ${ratio.toFixed(3)} | ≥ ${least} | ${ratio >= least ? "reached" : "not reached"} |`;

export const print = (line: string): void => void process.stdout.write(`${line}\n`);
