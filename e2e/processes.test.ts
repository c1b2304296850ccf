/** Tests of a server with three processes and their supervisor. */
import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorized, freshKey, type Reply, send, transport } from "./support/client.ts";
import { runWithBreakGlass, objects } from "./support/command.ts";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { type Credentials, issueCredentials, type ServerProcess, startServer } from "./support/server.ts";
import { get, inFlight, post } from "./support/server-scene.ts";
import { SlowRequest } from "./support/slow-request.ts";

const PROCESSES = 3;
const RATE = 40;

let database: TestDatabase;
let environment: Record<string, string>;
let server: ServerProcess;
let who: Credentials;
let otherSender: Credentials;
let thirdSender: Credentials;
/** Credentials of an account that no earlier test has used, so that it has its whole rate left. */
let unusedSender: Credentials;

const start = (): Promise<ServerProcess> =>
  startServer({
    ...environment,
    DRS_PROCESSES: String(PROCESSES),
    DRS_THROTTLE_RATE: String(RATE),
    DRS_THROTTLE_BURST: String(RATE),
  });

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  who = await issueCredentials(environment, "who");
  otherSender = await issueCredentials(environment, "other");
  thirdSender = await issueCredentials(environment, "third");
  unusedSender = await issueCredentials(environment, "unused");
  server = await start();
});

afterAll(async () => {
  await server.kill();
  await database.close();
});

/** The current process id of each process, by the number of the process. */
function pids(): Map<number, number> {
  const started = server.stderr().matchAll(/"process":(\d+),"pid":(\d+),"msg":"process started"/g);
  return new Map([...started].map(([, number, pid]) => [Number(number), Number(pid)]));
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function countOf(metric: string): Promise<number> {
  const { text } = await get(server.adminUrl, "/metrics");
  return text
    .split("\n")
    .filter((line) => line.startsWith(metric))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

async function countRows(): Promise<{ events: number; keys: number }> {
  const client = await connectAsOwner(environment);
  const { rows } = await client.query<{ events: number; keys: number }>(
    "select (select count(*)::int from event) as events, (select count(*)::int from idempotency_key) as keys",
  );
  await client.end();
  return rows[0] as { events: number; keys: number };
}

/** Sends requests until the time has passed. @returns the replies; `undefined` if the connection was reset. */
async function flood(sender: Credentials, connections: number, ms: number): Promise<(Reply | undefined)[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const replies: (Reply | undefined)[] = [];
  const end = Date.now() + ms;
  const work = async (): Promise<void> => {
    while (Date.now() < end) {
      const body = JSON.stringify(transport(sender));
      const sent = send({ url: server.url, headers: authorized(sender), body, agent });
      const reply = await sent.catch(() => undefined);
      replies.push(reply);
      if (reply?.status !== 201) await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  agent.destroy();
  return replies;
}

const onNewConnection = (sender: Credentials): Promise<Reply> => {
  const [headers, body] = [authorized(sender), JSON.stringify(transport(sender))];
  return send({ url: server.url, headers, body, agent: new Agent({ keepAlive: false }) });
};

const countWithStatus = (replies: readonly (Reply | undefined)[], status: number): number =>
  replies.filter((reply) => reply?.status === status).length;

describe("a server of three processes", () => {
  test("answers with one readiness and one page of metrics for all processes", async () => {
    expect([...pids().keys()]).toEqual([1, 2, 3]);
    const replies = await Promise.all(Array.from({ length: PROCESSES }, () => post(server, who)));
    expect(countWithStatus(replies, 201)).toBe(PROCESSES);
    expect(await countOf('drs_requests_total{status="201"')).toBe(PROCESSES);
    expect(await countOf("drs_processes ")).toBe(PROCESSES);
    expect(await get(server.adminUrl, "/readyz")).toMatchObject({ status: 200, text: "ok\n" });
  });

  test("stores one event for each idempotency key", async () => {
    const before = await countRows();
    const agent = new Agent({ keepAlive: true, maxSockets: 12 });
    for (let round = 0; round < 4; round++) {
      const headers = authorized(otherSender, freshKey());
      const body = JSON.stringify(transport(otherSender));
      const replies = await Promise.all(
        Array.from({ length: 12 }, () => send({ url: server.url, headers, body, agent })),
      );
      expect([countWithStatus(replies, 201), countWithStatus(replies, 200) + countWithStatus(replies, 429)]).toEqual([
        1, 11,
      ]);
    }
    agent.destroy();
    const after = await countRows();
    expect(after).toEqual({ events: before.events + 4, keys: before.keys + 4 });
  });

  test("respects the rate of an account over all processes, and allows the whole rate on one connection", async () => {
    await expect.poll(async () => (await post(server, who)).headers["ratelimit"], { timeout: 5_000 }).toMatch(/r=3\d/);
    const started = Date.now();
    const many = await flood(who, 4 * PROCESSES, 1_000);
    const seconds = (Date.now() - started) / 1_000;
    expect(countWithStatus(many, 201)).toBeLessThanOrEqual(RATE * seconds + PROCESSES * RATE);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const body = JSON.stringify(transport(thirdSender));
    const one = await Promise.all(
      Array.from({ length: RATE }, () => send({ url: server.url, headers: authorized(thirdSender), body, agent })),
    );
    agent.destroy();
    expect(countWithStatus(one, 201)).toBe(RATE);
  });

  test("replaces a process that was killed under load, and stores each answered event once", async () => {
    const answered = await countOf('drs_requests_total{status="201"');
    const killed = pids().get(2) ?? 0;
    const slow = Array.from({ length: PROCESSES }, () => new SlowRequest(server, unusedSender));
    await until(async () => (await inFlight(server)) === PROCESSES);
    // One of the new connections is given to the stopped process, which does not accept it.
    process.kill(killed, "SIGSTOP");
    const statuses: unknown[] = [];
    const given = Array.from({ length: PROCESSES }, () =>
      onNewConnection(otherSender)
        .then(
          ({ status }) => status,
          () => "reset",
        )
        .then((status) => statuses.push(status)),
    );
    await until(() => statuses.length === PROCESSES - 1);
    const before = await countRows();
    const load = Promise.all([flood(who, 4, 1_000), flood(otherSender, 4, 1_000)]);
    process.kill(killed, "SIGKILL");
    await Promise.all(given);
    expect(statuses.at(-1)).toBe("reset");
    const finished = slow.map((request) =>
      request.finish().then(
        ({ status }) => status,
        () => "reset",
      ),
    );
    expect((await Promise.all(finished)).toSorted(), "each process had one of the requests").toEqual([
      201,
      201,
      "reset",
    ]);
    const created = countWithStatus((await load).flat(), 201);
    await until(async () => (await countOf("drs_processes ")) === PROCESSES);
    expect(pids().get(2)).not.toBe(killed);
    expect(await countOf("drs_process_ends_total")).toBe(1);
    expect(await countOf('drs_requests_total{status="201"')).toBeGreaterThanOrEqual(answered);

    const { events, keys } = await countRows();
    // The event of a request whose connection was reset may have been stored.
    expect(events).toBeGreaterThanOrEqual(before.events + created);
    expect(keys).toBe(events);
    expect(server.stderr()).toContain('"end":"SIGKILL"');
  });

  test("stores the events of drs bench, and marks them as such", async () => {
    const { token } = await issueCredentials(environment, "bench");
    const registered = ["--type", "bench", "--session", "drs-bench", "--json"];
    const { stdout } = await runWithBreakGlass(environment, "action", "register", "--account", "bench", ...registered);
    const [action] = objects<{ action_id: string }>(stdout);
    const target = ["--url", server.url, "--token", token, "--action", action?.action_id ?? ""];
    const refused = await runWithBreakGlass({}, "bench", ...target, "--events", "10");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("will store 10 events of about 12 KB")]);

    const done = await runWithBreakGlass({}, "bench", ...target, "--events", "10", "--yes", "--json");
    expect(done.code, done.stderr).toBe(0);
    expect(objects(done.stdout)).toMatchObject([{ events: 10, stored: 10, errors: 0, answers: { "201": 10 } }]);
    const listed = await runWithBreakGlass(
      environment,
      "event",
      "list",
      "--account",
      "bench",
      "--limit",
      "10",
      "--json",
    );
    const marks = { action_type: "bench", session_id: "drs-bench", app_version: "drs-bench" };
    expect(objects(listed.stdout)).toEqual(Array.from({ length: 10 }, () => expect.objectContaining(marks)));

    const foreign = await runWithBreakGlass({}, "bench", ...target, "--type", "payment", "--events", "1", "--yes");
    expect([foreign.code, foreign.stderr]).toEqual([1, "Not all events were stored. Answers: 403: 1\n"]);
  });

  test("ends with its supervisor, and another server can then start", async () => {
    const processes = [...pids().values()];
    await server.kill();
    await until(() => !processes.some(isAlive));
    server = await start();
    expect((await post(server, who)).status).toBe(201);
  });

  test("answers accepted requests of all processes at SIGTERM, rejects new ones, then exits with code 0", async () => {
    const slow = [new SlowRequest(server, who), new SlowRequest(server, otherSender)];
    await until(async () => (await inFlight(server)) === slow.length);
    const ended = server.stop();
    await until(async () => (await get(server.adminUrl, "/readyz")).text.startsWith("draining"));
    const eachRejects = async (): Promise<boolean> => {
      const replies = await Promise.all(Array.from({ length: PROCESSES }, () => onNewConnection(thirdSender)));
      return countWithStatus(replies, 503) === PROCESSES;
    };
    await until(eachRejects);
    expect(await eachRejects()).toBe(true);
    for (const request of slow) expect((await request.finish()).status).toBe(201);
    expect(await ended).toBe(0);
    expect([...pids().values()].some(isAlive)).toBe(false);
    const { stdout } = await runWithBreakGlass(environment, "event", "list", "--limit", "2", "--json");
    expect(objects(stdout)).toHaveLength(2);
    expect(server.stderr()).not.toContain('"error"');
  });
});
