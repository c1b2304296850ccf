/**
 * A server whose events expire when a test advances the clock, and functions that read its partitions and their
 * secrets.
 */
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { partitionSecretName } from "../../packages/server/src/store/crypto/partition-secrets.ts";
import type { Expired } from "../../packages/server/src/lifecycle/retention/run-table.ts";
import { authorized, type Reply, send, transport } from "./client.ts";
import { objects } from "./command.ts";
import { secretExists } from "./key-directory.ts";
import { makeCredentials } from "./parties.ts";
import { type Credentials, type ServerProcess, startServer } from "./server.ts";
import { SystemScene } from "./system-scene.ts";
import { advanceClock } from "./test-clock.ts";

const HOUR_MS = 3_600_000;
/** How long credentials are valid: longer than any test advances the clock. */
const VALID_MS = 200 * 365 * 24 * HOUR_MS;

export interface Stored {
  readonly eventId: string;
  readonly request: Omit<Parameters<typeof send>[0], "url">;
}

/**
 * A server whose events expire. A test file creates the scene at its top; hooks of the scene start and stop everything.
 * Each test begins with a retention period of 30 days.
 */
export class RetentionScene extends SystemScene {
  #server: ServerProcess | undefined;
  #who: Credentials | undefined;

  constructor() {
    super(() => ({ DRS_REPLAY_WINDOW: "1h" }));
    beforeAll(async () => {
      await this.applyPeriod("P30D");
      await this.start();
      this.#who = await makeCredentials(this.system, "one", VALID_MS);
    });
    beforeEach(() => this.applyPeriod("P30D"));
    afterAll(() => this.#server?.stop());
  }

  get server(): ServerProcess {
    if (this.#server === undefined) throw new Error("a hook starts the server");
    return this.#server;
  }

  get who(): Credentials {
    if (this.#who === undefined) throw new Error("a hook makes the credentials");
    return this.#who;
  }

  /** Starts a server. Its first retention pass is after 24 hours, unless the test sets another interval. */
  readonly start = async (settings: Record<string, string> = {}): Promise<void> => {
    const serving = { ...this.environment, DRS_THROTTLE_RATE: "0", DRS_RETENTION_INTERVAL: "24h" };
    this.#server = await startServer({ ...serving, ...settings });
  };

  readonly newRequest = (): Stored["request"] => ({
    headers: authorized(this.who),
    body: JSON.stringify(transport(this.who, new Date(this.system.clock.now()))),
  });

  /** Posts to the running server, which has a different port after each start. */
  readonly post = (request: Stored["request"]): Promise<Reply> => send({ ...request, url: this.server.url });

  readonly store = async (): Promise<Stored> => {
    const request = this.newRequest();
    const answer = await this.post(request);
    expect(answer.status, answer.text).toBe(201);
    return { eventId: String(answer.json["event_id"]), request };
  };

  readonly listed = async (): Promise<unknown[]> => {
    const { stdout } = await this.drs("event", "list", "--limit", "0", "--json");
    return objects(stdout).map(({ event_id }) => event_id);
  };

  /** Advances the clock of the database, of the server and of commands. */
  readonly advance = (milliseconds: number): Promise<void> => advanceClock(this.environment, milliseconds);

  /** Runs a retention pass. */
  readonly run = async (): Promise<Expired> => {
    const { code, stdout, stderr } = await this.drs("retention", "run", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return objects(stdout)[0] as unknown as Expired;
  };

  readonly partitions = async (condition = "dropped_at is null"): Promise<string[]> => {
    const text = `select partition_id from event_partition where ${condition} order by lower_bound`;
    return (await this.owner.query<{ partition_id: string }>(text)).rows.map(({ partition_id }) => partition_id);
  };

  readonly secretExists = (partition: string): Promise<boolean> =>
    secretExists(this.environment, partitionSecretName(partition));
}
