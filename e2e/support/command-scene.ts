/** A server with two accounts, and `drs` with the environment of that server. */
import type { Agent } from "node:http";
import { afterAll, beforeAll, expect } from "vitest";
import { authorized, type Reply, send, transport, type Transport } from "./client.ts";
import { runWithBreakGlass, objects, type Printed } from "./command.ts";
import { sharedDatabase, type TestDatabase } from "./database.ts";
import { type Credentials, issueCredentials, type ServerProcess, startServer } from "./server.ts";

interface Opened {
  readonly environment: Record<string, string>;
  readonly one: Credentials;
  readonly two: Credentials;
  readonly server: ServerProcess;
}

/** A server and its commands. A test file creates the scene at its top; hooks start and stop the server. */
export class CommandScene {
  #database: TestDatabase | undefined;
  #opened: Opened | undefined;

  constructor() {
    beforeAll(async () => {
      this.#database = await sharedDatabase();
      const environment = await this.#database.environment();
      const one = await issueCredentials(environment, "one");
      const two = await issueCredentials(environment, "two");
      const server = await startServer({ ...environment, DRS_THROTTLE_RATE: "0" });
      this.#opened = { environment, one, two, server };
    });
    afterAll(async () => {
      await this.#opened?.server.stop();
      await this.#database?.close();
    });
  }

  get #now(): Opened {
    if (this.#opened === undefined) throw new Error("a hook starts the server");
    return this.#opened;
  }

  get environment(): Record<string, string> {
    return this.#now.environment;
  }

  get one(): Credentials {
    return this.#now.one;
  }

  get two(): Credentials {
    return this.#now.two;
  }

  get server(): ServerProcess {
    return this.#now.server;
  }

  readonly drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(this.environment, ...args);

  /** Runs a list command with `--json`, and returns its rows. */
  readonly listed = async (...args: readonly string[]): Promise<Record<string, unknown>[]> => {
    const { code, stdout, stderr } = await this.drs(...args, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return objects(stdout);
  };

  /** The only object that a command prints with `--json`. */
  readonly object = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const [only, ...others] = await this.listed(...args);
    expect(others).toEqual([]);
    return only ?? {};
  };

  readonly post = (who: Credentials, change: Partial<Transport> = {}, agent?: Agent): Promise<Reply> => {
    const body = JSON.stringify({ ...transport(who), ...change });
    return send({ url: this.server.url, headers: authorized(who), body, ...(agent && { agent }) });
  };

  /** @returns the id of the stored event. */
  readonly store = async (who: Credentials, change?: Partial<Transport>, agent?: Agent): Promise<string> => {
    const answer = await this.post(who, change, agent);
    expect(answer.status, answer.text).toBe(201);
    return answer.json["event_id"] as string;
  };
}

/** The form in which commands print times, except `collected_at`, which has microseconds. */
export const PRINTED_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
