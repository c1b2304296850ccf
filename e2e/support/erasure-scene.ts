/**
 * Two servers with a journal, and functions that store events, erase them and read everything that an erasure changes.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { accountSecretName } from "../../packages/server/src/store/crypto/sealer.ts";
import { authorized, type Reply, send, transport } from "./client.ts";
import { objects, PRIVACY } from "./command.ts";
import { secretExists } from "./key-directory.ts";
import { makeCredentials } from "./parties.ts";
import { type Credentials, type ServerProcess, startServer } from "./server.ts";
import { SystemScene } from "./system-scene.ts";

export interface Stored {
  readonly eventId: string;
  readonly text: string;
  readonly request: Omit<Parameters<typeof send>[0], "url">;
}

/** Servers on one database. A test file creates the scene at its top; hooks of the scene start and stop everything. */
export class ErasureScene extends SystemScene {
  readonly servers: ServerProcess[] = [];
  #accounts = 0;
  #turn = 0;

  constructor() {
    super((folder) => ({
      DRS_ERASURE_JOURNAL: join(folder, "journal"),
      DRS_KEY_BACKUP_RETENTION: "7d",
      DRS_BACKUP_RETENTION: "30d",
    }));
    beforeAll(async () => {
      await this.applyPeriod("P30D");
      this.servers.push(...(await Promise.all([startServer(this.serving), startServer(this.serving)])));
    });
    afterAll(async () => {
      for (const server of this.servers) await server.stop();
    });
  }

  /** The environment of the servers. */
  get serving(): Record<string, string> {
    return { ...this.environment, DRS_THROTTLE_RATE: "0", DRS_RETENTION_INTERVAL: "24h" };
  }

  readonly party = (account = `erased-${this.#accounts++}`): Promise<Credentials> =>
    makeCredentials(this.system, account);

  /** Posts to each of the servers in turn. */
  readonly post = (request: Stored["request"]): Promise<Reply> =>
    send({ ...request, url: this.servers[this.#turn++ % this.servers.length]?.url ?? "" });

  readonly store = async (who: Credentials): Promise<Stored> => {
    const body = transport(who);
    const request = { headers: authorized(who), body: JSON.stringify(body) };
    const answer = await this.post(request);
    expect(answer.status, answer.text).toBe(201);
    return { eventId: String(answer.json["event_id"]), text: JSON.stringify(body.observations), request };
  };

  readonly erase = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const run = await this.drs("erase", "run", ...args, "--reason", "request 17", "--yes", "--json");
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
    return objects(run.stdout)[0] ?? {};
  };

  readonly read = async (eventId: string): Promise<string | undefined> => {
    const { code, stdout } = await this.drs("event", "get", eventId, "--raw", ...PRIVACY);
    return code === 0 ? stdout : undefined;
  };

  readonly listed = async (account: string): Promise<unknown[]> => {
    const filter = ["--account", account, "--limit", "0"];
    const { stdout } = await this.drs("event", "list", ...PRIVACY, ...filter, "--json");
    return objects(stdout).map(({ event_id }) => event_id);
  };

  readonly purposeOf = async (eventId: string): Promise<string> =>
    String(objects((await this.drs("event", "get", eventId, ...PRIVACY, "--json")).stdout)[0]?.["purpose"]);

  readonly keysOf = async (account: string): Promise<string[]> => {
    const text = "select key_id from account_key where account = $1";
    const { rows } = await this.owner.query<{ key_id: string }>(text, [account]);
    return rows.map(({ key_id }) => key_id);
  };

  readonly secretExists = (keyId: string): Promise<boolean> => secretExists(this.environment, accountSecretName(keyId));

  /** The number of entries of the journal. */
  readonly entries = async (): Promise<number> => {
    const files = await readdir(join(this.folder, "journal"), { recursive: true }).catch(() => []);
    return files.filter((name) => name.endsWith(".json")).length;
  };

  /** The names of the tables of which a row contains the text. */
  readonly tablesWith = async (text: string): Promise<string[]> => {
    const { rows } = await this.owner.query<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'drs'::regnamespace and relkind in ('r', 'p') and not relispartition",
    );
    const tables: string[] = [];
    for (const { name } of rows) {
      const holds = `select from ${name} t where t::text like '%' || $1 || '%' limit 1`;
      if ((await this.owner.query(holds, [text])).rowCount) tables.push(name);
    }
    return tables;
  };

  /** Reads the content of an erasure's receipt. */
  readonly receiptOf = async (erasureId: string): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await this.drs("receipt", "get", erasureId);
    expect(code, stderr).toBe(0);
    return JSON.parse(Buffer.from(stdout.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
  };
}
