/** Installations for tests of backups. Each has its own erasure journal, which a restore does not reset. */
import { cp, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import { runWithBreakGlass, objects, PRIVACY } from "./command.ts";
import { connectAsOwner, replaceDatabase, sharedDatabase, type TestDatabase } from "./database.ts";
import { openTestSystem } from "./parties.ts";
import { type EventIn, Past, type PastEvent } from "./past-event.ts";
import { applyPeriod } from "./policy.ts";

export type Environment = Record<string, string>;

export const HOLD_OPTIONS = ["--reason", "dispute 4711", "--approver", "J. Doe", "--review", "2999-01-31"];

export interface RestoreScene {
  /** Makes a database with a separate journal, and applies a policy with this retention period. */
  readonly install: (period: string) => Promise<Environment>;
  /** Applies a policy with another retention period. */
  readonly changePeriod: (environment: Environment, period: string) => Promise<void>;
  /** Makes a backup. @returns a function that restores it. */
  readonly backUp: (environment: Environment, what: "database" | "database and keys") => Promise<() => Promise<void>>;
}

/** The hooks of a test file make and delete the databases and folders. */
export function useRestoreScene(): RestoreScene {
  let database: TestDatabase;
  let folder: string;
  let backupCount = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "drs-restored-"));
    database = await sharedDatabase();
  });
  afterAll(async () => {
    await database?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function asSuperuser(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
    const client = new pg.Client({ connectionString: database.url("postgres") });
    await client.connect();
    try {
      await work(client);
    } finally {
      await client.end();
    }
  }

  return {
    async install(period) {
      const installationFolder = await mkdtemp(join(folder, "installation-"));
      const environment = {
        ...(await database.environment()),
        DRS_ERASURE_JOURNAL: join(installationFolder, "journal"),
      };
      await applyPeriod(environment, installationFolder, period);
      return environment;
    },
    changePeriod: (environment, period) => applyPeriod(environment, folder, period),
    async backUp(environment, what) {
      const name = new URL(environment["DRS_DATABASE_URL"] ?? "").pathname.slice(1);
      const keys = environment["DRS_KEY_DIR"] ?? "";
      const copy = `${keys}.backup`;
      const backup = `${name}_${backupCount++}`;
      await asSuperuser((client) => client.query(`create database ${backup} template ${name}`));
      if (what === "database and keys") await cp(keys, copy, { recursive: true });
      return async () => {
        await asSuperuser((client) => replaceDatabase(client, name, backup));
        if (what === "database") return;
        await rm(keys, { recursive: true });
        await rename(copy, keys);
      };
    },
  };
}

/** Opens the installation as a command does, and closes it. */
export const startOnce = async (environment: Environment): Promise<void> => (await openTestSystem(environment)).close();

/** Stores these events as if they had been received this many hours ago. */
export async function storeAll(environment: Environment, hoursAgo: number, ...events: EventIn[]): Promise<PastEvent[]> {
  const system = await openTestSystem(environment);
  const past = new Past(system);
  const stored: PastEvent[] = [];
  try {
    for (const event of events) stored.push(await past.store(hoursAgo, event));
    return stored;
  } finally {
    await past.close();
    await system.close();
  }
}

export async function store(environment: Environment, account: string, hoursAgo = 1): Promise<PastEvent> {
  const [event] = await storeAll(environment, hoursAgo, { account });
  return event as PastEvent;
}

/** Runs a command that must exit with this code. @returns the first object that it printed. */
export async function run(
  environment: Environment,
  code: number,
  ...args: readonly string[]
): Promise<Record<string, unknown>> {
  const done = await runWithBreakGlass(environment, ...args, "--json");
  expect(done.code, `${args.join(" ")}: ${done.stderr}`).toBe(code);
  return objects(done.stdout)[0] ?? {};
}

/** Expects no finding of the doctor after the audit log of a restored database was continued. */
export async function expectHealthyRestore(environment: Environment): Promise<void> {
  await run(environment, 0, "audit", "epoch", "--reason", "a restore");
  await run(environment, 0, "doctor");
}

export const hold = async (environment: Environment, ...subject: readonly string[]): Promise<string> =>
  String((await run(environment, 0, "hold", "add", ...subject, ...HOLD_OPTIONS))["hold_id"]);
export const lift = (environment: Environment, id: string): Promise<object> =>
  run(environment, 0, "hold", "lift", id, "--reason", "it is resolved", "--yes");
export const erase = (environment: Environment, code: number, ...subject: readonly string[]): Promise<object> =>
  run(environment, code, "erase", "run", ...subject, "--reason", "request 17", "--yes");

export async function read(environment: Environment, { eventId }: PastEvent): Promise<string | undefined> {
  const { code, stdout } = await runWithBreakGlass(environment, "event", "get", eventId, "--raw", ...PRIVACY);
  return code === 0 ? stdout : undefined;
}

/** Key ids of accounts. */
export async function keysOf(environment: Environment, ...accounts: readonly string[]): Promise<readonly string[]> {
  const owner = await connectAsOwner(environment);
  const text = "select key_id as id from account_key where account = any ($1)";
  const { rows } = await owner.query<{ id: string }>(text, [accounts]);
  await owner.end();
  return rows.map(({ id }) => id);
}

/** The path of a journal entry's file, or of the file about this entry in the journal's folder `within`. */
export const entryFile = (environment: Environment, sequence: number, within = "000000"): string =>
  join(environment["DRS_ERASURE_JOURNAL"] ?? "", within, `${String(sequence).padStart(9, "0")}.json`);

export async function acceptLoss(environment: Environment, sequence: number): Promise<void> {
  const args = ["--entry", String(sequence), "--reason", "a disk failed", "--yes"];
  const { code, stderr } = await runWithBreakGlass(environment, "erase", "accept-loss", ...args);
  expect(code, stderr).toBe(0);
}
