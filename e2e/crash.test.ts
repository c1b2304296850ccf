/** Tests that `kill -9` of the server and of PostgreSQL under load loses no answered event and stores none twice. */
import { readFile } from "node:fs/promises";
import { Agent } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { System } from "../packages/server/src/runtime/system.ts";
import { EmbeddedPostgres } from "../packages/server/src/runtime/embedded-postgres/embedded-postgres.ts";
import { findEvent } from "../packages/server/src/store/events/read-events.ts";
import { issueAdminToken } from "../packages/server/src/access/identity/admin-tokens.ts";
import { inOwnerTransaction } from "../packages/server/src/store/postgres/database.ts";
import { authorized, freshKey, send, transport } from "./support/client.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { type Credentials, PROCESSES, type ServerProcess, startServer } from "./support/server.ts";
import { rounds } from "./support/soak.ts";

/** The number of the advisory lock for which a read waits after the commit of its audit entry. */
const READ_LOCK = 4711;
const KILLS = rounds(3, 20);
const WORKERS = 16;
/** Milliseconds that a worker waits after a 5xx or no answer. Without this wait, an outage causes too many requests. */
const PAUSE_MS = 200;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let environment: Record<string, string>;
let server: ServerProcess;
let who: Credentials;

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function inSystem<T>(work: (system: System) => Promise<T>): Promise<T> {
  const system = await openTestSystem(environment);
  try {
    return await work(system);
  } finally {
    await system.close();
  }
}

beforeAll(async () => {
  folder = await temporaryFolder();
  environment = {
    DRS_DATA_DIR: join(folder.path, "data"),
    DRS_KEY_DIR: join(folder.path, "keys"),
    DRS_ERASURE_JOURNAL: join(folder.path, "erasures"),
    DRS_PORT: String(await freePort()),
    DRS_THROTTLE_RATE: "0",
  };
  who = await inSystem((system) => makeCredentials(system, "crash"));
  server = await startServer(environment);
});

afterAll(async () => {
  await server.stop();
  await folder.remove();
});

interface Sent {
  readonly key: string;
  readonly body: string;
  readonly event: string;
  /** The status of the latest answer; `undefined` if there was none. */
  status?: number;
  eventId?: string;
}

/** Sends events on several connections, one after another on each, until it is stopped. */
class Load {
  readonly sent: Sent[] = [];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #workers: Promise<void>[];
  #isStopped = false;

  constructor() {
    this.#workers = Array.from({ length: WORKERS }, () => this.#work());
  }

  get stored(): number {
    return this.sent.filter(({ status }) => status === 201).length;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
    this.#agent.destroy();
  }

  async #work(): Promise<void> {
    while (!this.#isStopped) {
      const request = transport(who);
      const item: Sent = {
        key: freshKey(),
        body: JSON.stringify(request),
        event: JSON.stringify(request.observations),
      };
      this.sent.push(item);
      await attempt(item, this.#agent);
      if (item.status === undefined || item.status >= 500)
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

async function attempt(item: Sent, agent?: Agent): Promise<void> {
  const headers = authorized(who, item.key);
  const answer = await send({ url: server.url, headers, body: item.body, ...(agent && { agent }) }).catch(
    () => undefined,
  );
  if (!answer) return;
  item.status = answer.status;
  if (answer.status < 300) item.eventId = answer.json["event_id"] as string;
}

/** The process id in the file of PostgreSQL; 0 if there is none. */
async function postmaster(): Promise<number> {
  const pidFile = join(environment["DRS_DATA_DIR"] ?? "", "postgres/postmaster.pid");
  return Number((await readFile(pidFile, "utf8").catch(() => "")).split("\n")[0]);
}

/** Waits until a condition is true. The error has what the server and PostgreSQL wrote last. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 90_000;
  while (!(await condition())) {
    if (Date.now() > deadline) {
      const log = await readFile(join(environment["DRS_DATA_DIR"] ?? "", "postgres.log"), "utf8").catch(String);
      const ends = [server.stderr(), log].map((text) => text.slice(-3_000)).join("\n");
      throw new Error(`the condition did not become true in time:\n${ends}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Does the work for all items, with several at the same time. */
async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
}

async function check(load: Load): Promise<void> {
  const unconfirmed = load.sent.filter(({ status }) => status !== 201);
  await forEach(unconfirmed, async (item) => {
    expect([undefined, 500, 503]).toContain(item.status);
    await until(async () => {
      await attempt(item);
      return item.status !== 503 && item.status !== undefined;
    });
    expect([200, 201]).toContain(item.status);
  });
  await inSystem(async (system) => {
    await forEach(load.sent, async ({ eventId, event, key }) => {
      const stored = await findEvent(system.pool, eventId ?? "");
      if (!stored) throw new Error(`the event of ${key} is missing`);
      expect((await system.sealer.open(stored, stored.sealedUnder, stored.payload)).toString()).toBe(event);
    });
    const { rows } = await system.pool.query<{ events: number; keys: number }>(
      `select (select count(*) from event where idempotency_key = any ($1)) as events,
         (select count(*) from idempotency_key where key = any ($1)) as keys`,
      [load.sent.map(({ key }) => key)],
    );
    expect(rows).toEqual([{ events: load.sent.length, keys: load.sent.length }]);
  });
}

async function connectToEmbedded(): Promise<pg.Client> {
  const dataDir = environment["DRS_DATA_DIR"] ?? "";
  const embedded = await EmbeddedPostgres.open({ dataDir, asServer: false, onError: () => {} });
  const client = new pg.Client(embedded.owner);
  await embedded.close();
  await client.connect();
  return client;
}

/** Kills the server when the audit entry of a read is committed and the server has not yet received the payload. */
async function killWhileReading(eventId: string): Promise<void> {
  const { token } = await inSystem(({ administration, clock }) =>
    inOwnerTransaction(administration, (owner) =>
      issueAdminToken(owner, clock, { person: "reader", roles: ["investigator"], ttlMs: 60_000 }),
    ),
  );
  const client = await connectToEmbedded();
  const types = "(uuid, text, integer, timestamptz, uuid)";
  await client.query(`select pg_advisory_lock(${READ_LOCK});
    alter function drs.reveal_event${types} rename to reveal_event_later;
    create function drs.reveal_event${types} returns table (payload bytea, key_id uuid, hold_id uuid) language sql as
      'select pg_advisory_lock_shared(${READ_LOCK}); select * from drs.reveal_event_later($1, $2, $3, $4, $5)';
    grant execute on function drs.reveal_event${types} to public`);
  const answer = fetch(`${server.adminUrl}/admin/v1/events/${eventId}/exact`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ reason: "dispute 4711", category: "dispute" }),
  }).then(
    ({ status }) => status,
    () => "no answer",
  );
  const waits = `select from pg_locks where locktype = 'advisory' and objid = ${READ_LOCK} and not granted`;
  await until(async () => (await client.query(waits)).rowCount === 1);
  await server.kill();
  expect(await answer).toBe("no answer");
  const read =
    "select outcome, event_id from drs.audit_entry where operation = 'event.read_raw' and actor like 'reader (%'";
  expect((await client.query(read)).rows).toEqual([{ outcome: "done", event_id: eventId }]);
  await client.query(`drop function drs.reveal_event${types};
    alter function drs.reveal_event_later${types} rename to reveal_event`);
  await client.end();
}

describe("every answered event survives", () => {
  test(`${KILLS} kills of the server, one after the audit entry of a read and before its answer`, async () => {
    const load = new Load();
    for (let kill = 0; kill < KILLS; kill++) {
      const before = load.stored;
      await until(() => load.stored > before + 20);
      if (kill === 0) await killWhileReading(load.sent.find(({ status }) => status === 201)?.eventId ?? "");
      else await server.kill();
      server = await startServer(environment);
    }
    await load.stop();
    await check(load);
  }, 300_000);

  if (PROCESSES > 1) {
    test(`${KILLS} kills of one process of the server`, async () => {
      const load = new Load();
      for (let kill = 0; kill < KILLS; kill++) {
        const before = load.stored;
        await until(() => load.stored > before + 20);
        const started = [...server.stderr().matchAll(/"pid":(\d+),"msg":"process started"/g)];
        // Kills the oldest process, because the supervisor delays the restart of a process that ends soon after its
        // start.
        process.kill(Number(started.at(-PROCESSES)?.[1]), "SIGKILL");
        await until(() => server.stderr().match(/"msg":"process started"/g)?.length === started.length + 1);
      }
      const before = load.stored;
      await until(() => load.stored > before + 20);
      await load.stop();
      await check(load);
    }, 300_000);
  }

  test(`${KILLS} kills of PostgreSQL`, async () => {
    const load = new Load();
    let killedPid = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const before = load.stored;
      await until(() => load.stored > before + 20);
      // Backends outlive their postmaster for a moment, and its pid file exists until the next postmaster starts.
      await until(async () => ![0, killedPid].includes(await postmaster()));
      killedPid = await postmaster();
      process.kill(killedPid, "SIGKILL");
    }
    const before = load.stored;
    await until(() => load.stored > before + 20);
    await load.stop();
    await check(load);
  }, 300_000);

  test("a kill of PostgreSQL while it starts", async () => {
    const load = new Load();
    const before = load.stored;
    await until(() => load.stored > before + 20);
    const killed = await postmaster();
    process.kill(killed, "SIGKILL");
    // The new postmaster writes its id before it accepts connections.
    await until(async () => ![0, killed].includes(await postmaster()));
    process.kill(await postmaster(), "SIGKILL");
    const afterwards = load.stored;
    await until(() => load.stored > afterwards + 20);
    await load.stop();
    await check(load);
  }, 300_000);

  test("a killed backend, which is a transient error", async () => {
    const load = new Load();
    const client = await connectToEmbedded();
    for (let round = 0; round < 5; round++) {
      const before = load.stored;
      await until(() => load.stored > before + 20);
      await client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'drs'");
    }
    const before = load.stored;
    await until(() => load.stored > before + 20);
    await client.end();
    await load.stop();
    await check(load);
  });
});
