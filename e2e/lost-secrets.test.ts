/**
 * Tests of secrets that the key store has lost. An operator accepts the loss, and then the server stores events again.
 */
import { readFile, rename } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { accountSecretName, holdSecretName } from "../packages/server/src/store/crypto/sealer.ts";
import { partitionSecretName } from "../packages/server/src/store/crypto/partition-secrets.ts";
import { authorized, type Reply, send, transport } from "./support/client.ts";
import { runWithBreakGlass, objects, type Printed } from "./support/command.ts";
import { connectAsOwner } from "./support/database.ts";
import { copyName, copyOf, databaseName, useAdministeredCluster } from "./support/database-copy.ts";
import { until } from "./support/embedded.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { Past } from "./support/past-event.ts";
import { applyPeriod } from "./support/policy.ts";
import { type Credentials, issueCredentials, type ServerProcess, startServer } from "./support/server.ts";

const shared = useAdministeredCluster();

const SETTINGS = { DRS_THROTTLE_RATE: "0", DRS_DEPENDENCY_TIMEOUT: "2s", DRS_RETENTION_INTERVAL: "1s" };
const REASON = ["--reason", "failover, no copy has them"];

interface Sent {
  readonly who: Credentials;
  readonly key: string;
  readonly body: string;
  readonly exact: string;
  readonly reply: Reply;
}

async function post(server: ServerProcess, who: Credentials, again?: Sent): Promise<Sent> {
  const request = transport(who);
  const body = again?.body ?? JSON.stringify(request);
  const headers = authorized(who);
  const key = again?.key ?? String(headers["Idempotency-Key"]);
  const reply = await send({ url: server.url, headers: { ...headers, "Idempotency-Key": key }, body });
  return { who, key, body, exact: again?.exact ?? JSON.stringify(request.observations), reply };
}

async function stored(server: ServerProcess, who: Credentials): Promise<Sent> {
  let sent: Sent | undefined;
  await until(async () => (sent = await post(server, who)).reply.status === 201);
  if (!sent) throw new Error("nothing was sent");
  return sent;
}

const ready = (server: ServerProcess): Promise<Reply> => send({ url: server.adminUrl, method: "GET", path: "/readyz" });

const read = (environment: Record<string, string>, { reply }: Sent): Promise<Printed> =>
  runWithBreakGlass(
    environment,
    "event",
    "get",
    String(reply.json["event_id"]),
    "--raw",
    "--reason",
    "a test of reading",
  );

async function keysFinding(environment: Record<string, string>): Promise<unknown> {
  const { stdout } = await runWithBreakGlass(environment, "doctor", "--json");
  return objects(stdout).find(({ what }) => what === "keys");
}

function payloadOf(receipt: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(receipt.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
}

test("events are stored again once the loss is accepted, and a key store that was restored later also opens the old ones", async () => {
  const { DRS_KEY_DIR: _, ...events } = await shared.database.environment();
  const keyUrl = (await shared.database.environment())["DRS_DATABASE_URL"] ?? "";
  const environment: Record<string, string> = {
    ...events,
    ...SETTINGS,
    DRS_KEY_DATABASE_URL: keyUrl,
    DRS_ERASURE_JOURNAL: join(shared.folder, "journal"),
  };
  const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);
  const [one, two] = [await issueCredentials(environment, "one"), await issueCredentials(environment, "two")];
  const server = await startServer(environment);
  try {
    expect(await drs("key", "accept-loss", ...REASON, "--yes")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("nothing is lost"),
    });
    // The key database loses the secrets of today's partition and of both accounts.
    const swap = await copyOf(shared.admin, databaseName(keyUrl));
    const lost = [await stored(server, one), await stored(server, two)];
    await swap();
    await until(async () => (await ready(server)).text.includes("key store: lacks 3 secrets"));
    expect((await ready(server)).text).toContain("drs key accept-loss");
    expect((await post(server, one)).reply.status).toBe(503);

    const dry = await drs("key", "accept-loss", ...REASON, "--dry-run", "--json");
    expect(objects(dry.stdout), dry.stderr).toEqual([
      { events: 2, accounts: 2, partitions: 1, copies: 0, dry_run: true },
    ]);
    expect(await drs("key", "accept-loss", ...REASON)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("2 events of 2 accounts"),
    });
    expect((await post(server, one)).reply.status, "nothing was accepted").toBe(503);
    expect(await drs("key", "accept-loss", ...REASON, "--yes")).toMatchObject({ code: 0, stderr: "" });

    const after = [await stored(server, one), await stored(server, two)];
    expect((await ready(server)).text).toBe("ok\n");
    for (const sent of after) expect(await read(environment, sent)).toMatchObject({ code: 0, stdout: sent.exact });
    for (const sent of lost) {
      expect(await read(environment, sent)).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("the loss was accepted"),
      });
      expect((await post(server, sent.who, sent)).reply).toMatchObject({ status: 200 });
      const other = { ...sent, body: sent.body.replace('"android"', '"ios"') };
      expect((await post(server, sent.who, other)).reply.status).toBe(409);
    }
    expect(objects((await drs("event", "list", "--json")).stdout)).toHaveLength(4);
    expect(await keysFinding(environment)).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/the loss of 3 secrets was accepted on 2.*: 2 events and 0 copies/),
    });
    expect(objects((await drs("audit", "list", "--json")).stdout)).toContainEqual(
      expect.objectContaining({ operation: "key.accept-loss", outcome: "done", reason: REASON[1] }),
    );
    const out = join(shared.folder, "export");
    expect((await drs("account", "export", "--account", "one", "--out", out, "--reason", "request 1")).code).toBe(0);
    expect(objects(await readFile(join(out, "events.ndjson"), "utf8")).map(({ unreadable }) => unreadable)).toEqual([
      undefined,
      true,
    ]);
    expect(await drs("key", "rotate", "--dry-run")).toMatchObject({ code: 0 });

    // The operator finds a copy that has the lost secrets. This copy lacks the secrets that were made since.
    await swap();
    await until(async () => /key store: lacks \d secrets/.test((await ready(server)).text));
    expect((await post(server, one)).reply.status).toBe(503);
    await addMissingSecrets(keyUrl, shared.database.url(copyName(databaseName(keyUrl))));
    const last = await stored(server, one);
    await until(async () => (await ready(server)).text === "ok\n");
    for (const sent of [...lost, ...after, last]) {
      expect(await read(environment, sent)).toMatchObject({ code: 0, stdout: sent.exact });
    }

    const receipt = join(shared.folder, "receipt");
    const erased = await drs("erase", "run", "--account", "one", ...REASON, "--receipt", receipt, "--yes", "--json");
    expect(erased.code, erased.stderr).toBe(0);
    const [{ destroyed_keys, lost_keys } = {}] = objects(erased.stdout);
    expect([destroyed_keys, lost_keys]).toEqual([[expect.any(String)], [expect.any(String)]]);
    expect(payloadOf(await readFile(receipt, "utf8"))).toMatchObject({
      destroyed_keys,
      lost_keys,
      events: 3,
      secret_losses: [{ loss: 1, events: 2, secrets: 3 }],
    });
    expect(await secretsOf(keyUrl)).not.toContain(idOf(accountSecretName((lost_keys as string[])[0] ?? "")));
    expect(await read(environment, lost[1] ?? last)).toMatchObject({ code: 0 });
  } finally {
    await server.stop();
  }
});

const idOf = (name: string): string => createHash("sha256").update(name).digest("hex");

async function withKeys<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const secretsOf = (url: string): Promise<readonly string[]> =>
  withKeys(url, async (keys) =>
    (await keys.query<{ id: string }>("select id from drs_keys.secret")).rows.map(({ id }) => id),
  );

/**
 * Copies the secrets that `to` lacks, as psql does with the output of `pg_dump --data-only --inserts
 * --on-conflict-do-nothing --table drs_keys.secret`.
 */
async function addMissingSecrets(to: string, from: string): Promise<void> {
  const { rows } = await withKeys(from, (keys) =>
    keys.query<{ id: string; wrapped: Buffer }>("select id, wrapped from drs_keys.secret"),
  );
  await withKeys(to, async (keys) => {
    for (const { id, wrapped } of rows) {
      await keys.query("insert into drs_keys.secret (id, wrapped) values ($1, $2) on conflict do nothing", [
        id,
        wrapped,
      ]);
    }
  });
}

test("a server that has not detected the loss seals under new secrets once the loss is accepted", async () => {
  const environment: Record<string, string> = { ...(await shared.database.environment()), DRS_THROTTLE_RATE: "0" };
  const system = await openTestSystem(environment);
  const [one, two] = [await makeCredentials(system, "one"), await makeCredentials(system, "two")];
  const server = await startServer(environment);
  try {
    const early = [await stored(server, one), await stored(server, two)];
    const { rows } = await system.pool.query<{ name: string }>(
      `select 'account/' || key_id as name from account_key where account = 'one'
        union all select 'partition/' || partition_id from event_partition where now() between lower_bound and upper_bound`,
    );
    const names = rows.map(({ name }) => name);
    const keptSecrets = new Map<string, Buffer>();
    for (const name of names) {
      keptSecrets.set(name, (await system.keyStore.read(idOf(name))) ?? Buffer.alloc(0));
      await system.secrets.discard(name);
    }
    const meanwhile = await stored(server, one);
    expect(await runWithBreakGlass(environment, "key", "accept-loss", ...REASON, "--yes")).toMatchObject({
      code: 0,
      stderr: "",
    });
    const after = [await stored(server, one), await stored(server, two)];
    for (const sent of after) expect(await read(environment, sent)).toMatchObject({ code: 0, stdout: sent.exact });
    for (const sent of [...early, meanwhile]) expect(await read(environment, sent)).toMatchObject({ code: 1 });
    for (const name of names) await system.keyStore.create(idOf(name), keptSecrets.get(name) ?? Buffer.alloc(0));
    for (const sent of [...early, meanwhile, ...after]) {
      expect(await read(environment, sent), "no secret took the name of a lost one").toMatchObject({ code: 0 });
    }
  } finally {
    await server.stop();
    await system.close();
  }
});

test("expiry, holds and erasure work with lost secrets: a copy keeps the attributes, and a hold continues under a new secret", async () => {
  const environment: Record<string, string> = {
    ...(await shared.database.environment()),
    DRS_ERASURE_JOURNAL: join(shared.folder, "journal of holds"),
  };
  const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);
  const ok = async (...args: readonly string[]): Promise<Record<string, unknown>[]> => {
    const { code, stdout, stderr } = await drs(...args);
    expect({ code, stderr }, args.join(" ")).toEqual({ code: 0, stderr: "" });
    return args.includes("--json") ? objects(stdout) : [];
  };
  const aside = join(shared.folder, "aside");
  const lose = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const id = idOf(name);
      await rename(join(environment["DRS_KEY_DIR"] ?? "", "secrets", id.slice(0, 2), id), aside);
    }
  };
  const system = await openTestSystem(environment);
  const owner = await connectAsOwner(environment);
  const past = new Past(system);
  try {
    await applyPeriod(environment, shared.folder, "PT1H");
    const partitionOf = async (hoursAgo: number): Promise<string> => {
      const text = `select partition_id as id from event_partition
        where now() - interval '${hoursAgo} hours' between lower_bound and upper_bound`;
      return (await owner.query<{ id: string }>(text)).rows[0]?.id ?? "";
    };
    const keyOf = async (account: string): Promise<string> => {
      const text = "select key_id as id from account_key where account = $1 and lost_by is null";
      return (await owner.query<{ id: string }>(text, [account])).rows[0]?.id ?? "";
    };
    const why = [...REASON, "--approver", "J. Doe", "--review", "2999-01-31"];
    const copied = await past.store(40, { account: "held" });
    const [{ hold_id: hold } = {}] = await ok("hold", "add", "--account", "held", ...why, "--json");
    await ok("retention", "run");

    const [held, free] = [await past.store(30, { account: "held" }), await past.store(30, { account: "free" })];
    await lose(
      partitionSecretName(await partitionOf(30)),
      accountSecretName(await keyOf("held")),
      holdSecretName(String(hold)),
    );
    const accepted = await ok("key", "accept-loss", ...REASON, "--yes", "--json");
    expect(accepted).toEqual([{ events: 2, accounts: 2, partitions: 1, copies: 1, dry_run: false }]);

    // The pass drops the partition. The hold keeps the attributes of events that can't be opened.
    const [pass = {}] = await ok("retention", "run", "--json");
    expect(pass).toMatchObject({ rows: 1, held: 1 });
    const later = await past.store(20, { account: "held" });
    await ok("retention", "run");
    const listed = await ok("event", "list", "--account", "held", "--json");
    expect(listed.map(({ event_id }) => event_id)).toEqual([later, held, copied].map(({ eventId }) => eventId));
    const raw = (eventId: string): Promise<Printed> =>
      drs("event", "get", eventId, "--raw", "--reason", "a test of reading");
    expect(await raw(later.eventId)).toMatchObject({ code: 0, stdout: later.exact });
    for (const { eventId } of [held, copied]) {
      expect(await raw(eventId)).toMatchObject({ code: 1, stderr: expect.stringContaining("the loss was accepted") });
    }
    expect(await raw(free.eventId)).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no event") });
    expect(await keysFinding(environment)).toMatchObject({ ok: true });

    const erased = await drs("erase", "run", "--account", "held", ...REASON, "--yes", "--json");
    expect(erased.code, "a hold keeps the rest").toBe(3);
    await ok("hold", "lift", String(hold), ...REASON, "--yes");
    await ok("retention", "run");
    expect((await owner.query("select from held_event")).rowCount).toBe(0);
    const secrets = `select later_secrets[1]::text as id from legal_hold`;
    const id = (await owner.query<{ id: string }>(secrets)).rows[0]?.id ?? "";
    expect(id).not.toBe("");
    expect(await system.secrets.findMissing([holdSecretName(id)])).toHaveLength(1);
  } finally {
    await past.close();
    await owner.end();
    await system.close();
  }
});
