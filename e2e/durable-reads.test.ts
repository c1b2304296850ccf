/** Tests that a crash loses no audit entry of a payload that was given out. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeAudit } from "../packages/server/src/audit/audit.ts";
import type { EmbeddedPostgres } from "../packages/server/src/runtime/embedded-postgres/embedded-postgres.ts";
import { findAttributes, type ListedEvent, revealEvent } from "../packages/server/src/store/events/read-events.ts";
import { servingOptions } from "../packages/server/src/store/postgres/database.ts";
import type { Connection } from "../packages/server/src/store/postgres/executor.ts";
import { copyCluster, TEMPLATE } from "./support/cluster-template.ts";
import { openTestSystem } from "./support/parties.ts";
import { Past } from "./support/past-event.ts";
import { startPostgres } from "./support/start-postgres.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let postgres: EmbeddedPostgres;

beforeAll(async () => {
  folder = await temporaryFolder();
  const dataDir = join(folder.path, "data");
  await copyCluster(dataDir);
  postgres = await startPostgres(dataDir);
});
afterAll(async () => {
  await postgres.close();
  await folder.remove();
});

test("a payload that a login with synchronous_commit=off gets before a crash has its audit entry afterwards", async () => {
  const host = encodeURIComponent(postgres.owner.host ?? "");
  const connectionString = `postgresql://postgres@localhost/${TEMPLATE}?host=${host}`;
  const system = await openTestSystem({
    DRS_DATABASE_URL: connectionString,
    DRS_KEY_DIR: join(folder.path, "keys"),
    DRS_KEY_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
  });
  const past = new Past(system);
  const { eventId } = await past.store(0);
  await past.close();
  const listed = (await findAttributes(system.pool, eventId)) as ListedEvent;
  const client = new pg.Client(servingOptions({ connectionString }, { role: "drs_admin" })) as pg.Client & Connection;
  client.on("error", () => {});
  await client.connect();
  const processes = await listProcesses();
  // Only the process that stops here would make the entry durable a little later.
  process.kill(processes.find(({ kind }) => kind === "walwriter")?.pid ?? 0, "SIGSTOP");
  await client.query("set synchronous_commit = off");
  const read = {
    actor: "thief",
    via: "api",
    operation: "event.read_raw",
    outcome: "done",
    eventIds: [eventId],
  } as const;
  const entryId = await writeAudit(client, system.audit, read);
  const revealed = await revealEvent(client, entryId, listed).catch(() => undefined);
  await system.close();
  for (const { pid } of processes) kill(pid);

  postgres = await startPostgres(join(folder.path, "data"));
  const rows = await query(`select from drs.audit_entry where entry_id = '${entryId}'`);
  expect({ payload: revealed !== undefined, entry: rows.length === 1 }).toEqual({
    payload: rows.length === 1,
    entry: revealed !== undefined,
  });
});

async function query<Row extends pg.QueryResultRow>(text: string): Promise<readonly Row[]> {
  const owner = new pg.Client({ ...postgres.owner, database: TEMPLATE });
  await owner.connect();
  const { rows } = await owner.query<Row>(text);
  await owner.end();
  return rows;
}

/** The processes of the cluster. The first one is that which starts the others. */
async function listProcesses(): Promise<readonly { readonly pid: number; readonly kind: string }[]> {
  const [first] = (await readFile(join(folder.path, "data/postgres/postmaster.pid"), "utf8")).split("\n");
  const others = await query<{ pid: number; kind: string }>(
    "select pid, backend_type as kind from pg_stat_activity where pid <> pg_backend_pid()",
  );
  return [{ pid: Number(first), kind: "postmaster" }, ...others];
}

/** Kills a process, unless it has ended. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
