/** Servers on fresh databases with two accounts each, and checks that several tests use. */
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { authorized, freshKey, type Reply, send, transport } from "./client.ts";
import { sharedDatabase, type TestDatabase } from "./database.ts";
import { type Home, makeHome, until } from "./embedded.ts";
import { type Credentials, issueCredentials, PROCESSES, type ServerProcess, startServer } from "./server.ts";

const PROBLEM = "urn:problem:device-risk-signals:";
const WHOLE_SECONDS = /^[1-9]\d*$/;

export interface Stage {
  readonly environment: Record<string, string>;
  readonly server: ServerProcess;
  readonly who: Credentials;
  readonly other: Credentials;
}

/** Servers of one test file, which creates the scene at its top. A hook stops each server at the end of its test. */
export class ServerScene {
  #database: TestDatabase | undefined;
  readonly #running: ServerProcess[] = [];
  readonly #homes: Home[] = [];

  constructor() {
    beforeAll(async () => {
      this.#database = await sharedDatabase();
    });
    afterEach(async () => {
      for (const server of this.#running.splice(0)) {
        if (server.process.exitCode === null && server.process.signalCode === null) await server.kill();
      }
      for (const home of this.#homes.splice(0)) await home.remove();
    });
    afterAll(() => this.#database?.close());
  }

  /** Environment of a server on a fresh database. */
  environment(): Promise<Record<string, string>> {
    if (this.#database === undefined) throw new Error("a hook opens the database");
    return this.#database.environment();
  }

  /** A server that stops at the end of its test. */
  readonly serve = async (environment: Record<string, string>): Promise<ServerProcess> => {
    const server = await startServer(environment);
    this.#running.push(server);
    return server;
  };

  /** A home that is deleted at the end of its test. */
  readonly temporaryHome = async (): Promise<Home> => {
    const home = await makeHome();
    this.#homes.push(home);
    return home;
  };

  /** A server on a fresh database, with two accounts. */
  readonly stage = async (settings: Record<string, string> = {}): Promise<Stage> =>
    this.stageOn({ ...(await this.environment()), ...settings });

  /** Makes a stage on a database that the caller made. */
  readonly stageOn = async (environment: Record<string, string>): Promise<Stage> => {
    const who = await issueCredentials(environment, "who");
    const other = await issueCredentials(environment, "other");
    return { environment, server: await this.serve(environment), who, other };
  };
}

export const get = (url: string, path: string): Promise<Reply> => send({ url, method: "GET", path });

export const post = (server: ServerProcess, who: Credentials, key = freshKey(), body?: string): Promise<Reply> =>
  send({ url: server.url, headers: authorized(who, key), body: body ?? JSON.stringify(transport(who)) });

export function expectRetryLater(reply: Reply, status: number, problem: string): void {
  const problemCode = String(reply.json["type"]).replace(PROBLEM, "");
  expect([reply.status, problemCode], reply.text).toEqual([status, problem]);
  expect(reply.headers["retry-after"]).toMatch(WHOLE_SECONDS);
}

/** Milliseconds after which each process of a server knows how many requests the others are answering. */
const REPORTED_AFTER_MS = PROCESSES > 1 ? 200 : 0;

/** Waits until the server is answering this number of requests, and all of its processes know this number. */
export async function untilInFlight(server: ServerProcess, count: number): Promise<void> {
  await until(async () => (await inFlight(server)) === count);
  await new Promise((resolve) => setTimeout(resolve, REPORTED_AFTER_MS));
}

/** Number of requests that the server is answering. */
export async function inFlight({ adminUrl }: ServerProcess): Promise<number> {
  const { text } = await get(adminUrl, "/metrics");
  return Number(/^drs_requests_in_flight (\d+)$/m.exec(text)?.[1]);
}
