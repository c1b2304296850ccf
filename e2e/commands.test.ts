/** The command line: what it prints, what it returns, and what it refuses. */
import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorized, freshKey, type Reply, send, transport, type Transport } from "./support/client.ts";
import { command, everyCommand, objects, type Printed, REQUIRED } from "./support/command.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { type Credentials, credentials, runDrs, type ServerProcess, startServer } from "./support/server.ts";

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const NO_EVENT = "019a0000-0000-7000-8000-000000000000";
/** What a terminal might obey: C0 and C1 controls but the end of a line, marks of direction, tags. */
const CONTROLS = /[^\P{Cc}\n]|\p{Cf}/u;

let database: TestDatabase;
let environment: Record<string, string>;
let server: ServerProcess;
let one: Credentials;
let two: Credentials;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  one = await credentials(environment, "one");
  two = await credentials(environment, "two");
  server = await startServer({ ...environment, DRS_THROTTLE_RATE: "0" });
});

afterAll(async () => {
  await server.stop();
  await database.close();
});

const drs = (...args: readonly string[]): Promise<Printed> => command(environment, ...args);

async function listed(...args: readonly string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await drs(...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout);
}

async function object(...args: readonly string[]): Promise<Record<string, unknown>> {
  const [only, ...others] = await listed(...args);
  expect(others).toEqual([]);
  return only ?? {};
}

const post = (who: Credentials, change: Partial<Transport> = {}, agent?: Agent): Promise<Reply> => {
  const body = JSON.stringify({ ...transport(who), ...change });
  return send({ url: server.url, headers: authorized(who), body, ...(agent && { agent }) });
};

async function store(who: Credentials, change?: Partial<Transport>, agent?: Agent): Promise<string> {
  const answer = await post(who, change, agent);
  expect(answer.status, answer.text).toBe(201);
  return answer.json["event_id"] as string;
}

describe("help, usage and failure", () => {
  test.each(everyCommand().map((path) => [path.join(" "), path]))("drs %s --help", async (name, path) => {
    const { code, stdout, stderr } = await drs(...path, "--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^Usage: drs${name === "" ? "" : ` ${name}`}\\b`));
    const [, examples = ""] = /\nExamples?:\n((?: {2}\$ .+\n)+)\n*$/.exec(stdout) ?? [];
    expect(examples).toMatch(new RegExp(`^ {2}\\$ (DRS_\\w+=\\S+ )*drs ${name}`));
  });

  test("every command that the documents promise is there", () => {
    const names = everyCommand().map((path) => path.join(" "));
    expect(names).toEqual(
      expect.arrayContaining([
        "serve",
        "config",
        "doctor",
        "token issue",
        "token list",
        "token revoke",
        "action register",
        "action list",
        "action revoke",
        "event get",
        "event list",
        "audit list",
        "drift list",
      ]),
    );
  });

  const wrong: string[][] = [
    [],
    ["nonsense"],
    ["token"],
    ["token", "nonsense"],
    ...everyCommand()
      .filter((path) => path.length > 0)
      .map((path) => [...path, "--nonsense"]),
    ["doctor", "more"],
    ["token", "issue"],
    ["token", "issue", "--account", ""],
    ["token", "issue", "--account", "x".repeat(257)],
    ["token", "issue", "--account", "a", "--ttl", "soon"],
    ["token", "issue", "--account", "a", "--ttl", "0s"],
    ["token", "issue", "--account", "a", "--ttl", "3651d"],
    ["token", "revoke"],
    ["token", "revoke", "no-uuid"],
    ["action", "register", "--account", "a"],
    ["action", "register", "--type", "t"],
    ["action", "register", "--account", "a", "--type", "x".repeat(65)],
    ["action", "register", "--account", "a", "--type", "t", "--id", "x".repeat(129)],
    ["action", "register", "--account", "a", "--type", "t", "--session", "x".repeat(129)],
    ["action", "revoke", "act_1"],
    ["event", "get"],
    ["event", "get", "no-uuid"],
    ["event", "get", NO_EVENT, "--raw"],
    ["event", "get", NO_EVENT, "--raw", "--reason", ""],
    ["event", "list", "--limit", "-1"],
    ["event", "list", "--limit", "many"],
    ["event", "list", "--after", "no-uuid"],
    ["hold", "add", "--account", "a", "--reason", "request 17", "--review", "2999-01-31", "--approver", " "],
    ["request", "add", "--account", "a", "--kind", "access", "--identity", " \t"],
    ["audit", "list", "--event", "no-uuid"],
    ["audit", "list", "--limit", "1.5"],
  ];
  test.each(wrong.map((args) => [args.join(" ").slice(0, 60), args]))("wrong usage: drs %s", async (_, args) => {
    const { code, stdout, stderr } = await drs(...args);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).not.toBe("");
  });

  test.each([
    ["blank", "        "],
    ["too short", "dispute"],
    ["short within its blanks", "   dispute   "],
    ["of three characters only", "abcabcabcabc"],
    ["invisible", "\u200b\u200c\u200d\u2060\u200b\u200c\u200d\u2060"],
    ["too long", "dispute ".repeat(126)],
  ])("a reason that is %s is wrong usage wherever one is asked for", async (_, text) => {
    const { DRS_REASON_MIN_LENGTH: __, ...usual } = environment;
    const commands = [
      ["event", "get", NO_EVENT, "--raw", "--reason", text],
      ["account", "export", "--account", "one", "--out", "/nowhere/export", "--reason", text],
      ["erase", "run", "--account", "one", "--yes", "--reason", text],
      ["hold", "add", "--account", "one", "--approver", "x", "--review", "2999-01-31", "--reason", text],
      ["hold", "review", NO_EVENT, "--review", "2999-01-31", "--approver", "x", "--reason", text],
      ["hold", "lift", NO_EVENT, "--yes", "--reason", text],
      ["request", "extend", NO_EVENT, "--reason", text],
      ["request", "close", NO_EVENT, "--outcome", "refused", "--reason", text],
    ];
    for (const args of commands) {
      const { code, stdout, stderr } = await command(usual, ...args);
      expect({ code, stdout }, args.join(" ")).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("a reason has 8 to 1000 characters, 4 of them different");
    }
  });

  test("the least length of a reason is DRS_REASON_MIN_LENGTH", async () => {
    const get = (text: string, least: string): Promise<Printed> =>
      command({ ...environment, DRS_REASON_MIN_LENGTH: least }, "event", "get", NO_EVENT, "--raw", "--reason", text);
    expect((await get("dispute 4711", "13")).code).toBe(2);
    expect((await get("dispute 4711", "12")).code).toBe(1);
    expect((await get("dispute 4711", "many")).stderr).toContain("DRS_REASON_MIN_LENGTH must be a whole number");
  });

  test("lengths count characters, not code units", async () => {
    const account = "\u{1F600}".repeat(256);
    const { token } = await object("token", "issue", "--account", account);
    const { action_id } = await object("action", "register", "--account", account, "--type", "payment");
    expect((await drs("token", "issue", "--account", `${account}x`)).code).toBe(2);
    const who = { account, token: String(token), actionId: String(action_id), actionType: "payment", sessionId: "s" };
    const eventId = await store(who);
    expect(await object("event", "get", eventId)).toMatchObject({ account });
  });

  const failing: string[][] = [
    ["event", "get", NO_EVENT],
    ["event", "get", NO_EVENT, "--raw", "--reason", "curious"],
    // An id that is none of ours, and says the year 10889.
    ["event", "get", "ffffffff-ffff-4fff-bfff-ffffffffffff"],
    ["token", "revoke", NO_EVENT],
    ["action", "revoke", "no-such", "--account", "one"],
  ];
  test.each(failing.map((args) => [args.join(" "), args]))("failure: drs %s", async (_, args) => {
    const { code, stdout, stderr } = await drs(...args);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^There is no .+\n$/);
  });

  const leaves = everyCommand().filter(
    (path) => path.length === 2 || ["doctor", "migrate", "serve"].includes(path[0] ?? ""),
  );
  const withDatabase = leaves.filter((path) => path.join(" ") !== "receipt verify");
  test.each(withDatabase.map((path) => [path.join(" "), path]))("drs %s without a database", async (name, path) => {
    const away = { ...environment, DRS_DATABASE_URL: "postgresql://drs:hunter2@127.0.0.1:1/drs" };
    const { code, stdout, stderr } = await command(away, ...path, ...(REQUIRED[name] ?? []));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe("the database can't be reached: connection refused\n");
  });

  test("a configuration that is not valid names every problem, for every command", async () => {
    const broken = { DRS_PORT: "x", DRS_PROT: "1", DRS_KEY_ENCRYPTION_KEY: "hunter2" };
    for (const path of [...leaves, ["config"]]) {
      const { code, stdout, stderr } = await command(broken, ...path, ...(REQUIRED[path.join(" ")] ?? []));
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      for (const name of Object.keys(broken)) expect(stderr, path.join(" ")).toContain(name);
      expect(stderr).not.toContain("hunter2");
    }
  });

  test("a process of its own ends with the same codes", async () => {
    const codes = await Promise.all(
      [["--help"], ["nonsense"], ["token", "revoke", NO_EVENT]].map((args) => runDrs(environment, args)),
    );
    expect(codes.map(({ code }) => code)).toEqual([0, 2, 1]);
  });

  test("a reader that leaves early is no failure", async () => {
    const { execFile } = await import("node:child_process");
    const script = `set -o pipefail; "$0" packages/server/bin/drs.js event list --help | true`;
    const env = { PATH: process.env["PATH"], ...environment };
    const code = await new Promise((resolve) => {
      execFile("bash", ["-c", script, process.execPath], { env }, (error) => resolve(error?.code ?? 0));
    });
    expect(code).toBe(0);
  });
});

describe("tokens", () => {
  test("are issued, listed without themselves, and refused within seconds of their revocation", async () => {
    const issued = await object("token", "issue", "--account", "tokens", "--ttl", "15m");
    expect(issued).toMatchObject({ account: "tokens", token: expect.stringMatching(/^drs_[\w-]{43}$/) as string });
    expect(Object.keys(issued).toSorted()).toEqual(["account", "expires_at", "token", "token_id"]);
    expect(Math.abs(Date.parse(issued["expires_at"] as string) - Date.now() - 900_000)).toBeLessThan(10_000);

    const [row, ...others] = await listed("token", "list", "--account", "tokens");
    expect(others).toEqual([]);
    expect(row).toMatchObject({ token_id: issued["token_id"], account: "tokens", revoked_at: null });
    expect((await drs("token", "list")).stdout).not.toContain(issued["token"]);

    const action = await object("action", "register", "--account", "tokens", "--type", "payment");
    const who = { ...one, account: "tokens", token: issued["token"], actionId: action["action_id"] } as Credentials;
    await store(who);
    expect(await drs("token", "revoke", issued["token_id"] as string)).toMatchObject({ code: 0, stderr: "" });
    const revoked = Date.now();
    await until(async () => (await post(who)).status === 401);
    expect(Date.now() - revoked).toBeLessThan(6_500);
    expect(await object("token", "list", "--account", "tokens")).toMatchObject({
      revoked_at: expect.stringMatching(TIME) as string,
    });
    expect((await drs("token", "revoke", issued["token_id"] as string)).code).toBe(1);
    const audit = await listed("audit", "list", "--account", "tokens", "--limit", "0");
    expect(audit.map((entry) => entry["operation"])).toEqual(
      expect.arrayContaining(["token.issue", "token.revoke", "action.register"]),
    );
  });

  test("end when their time is over, though the server knows them", async () => {
    const { token } = await object("token", "issue", "--account", "one", "--ttl", "1s");
    const who = { ...one, token } as Credentials;
    const first = await post(who);
    await until(async () => (await post(who)).status === 401, 3_000);
    expect(first.status).toBe(201);
  });

  test("without --json the token stands alone on the first line", async () => {
    const { stdout } = await drs("token", "issue", "--account", "one");
    expect(stdout).toMatch(/^drs_[\w-]{43}\nFor one, until \S+\. It is not shown again\.\n$/);
  });
});

describe("actions", () => {
  const register = (...more: string[]): Promise<Printed> =>
    drs("action", "register", "--account", "actions", "--type", "payment", "--json", ...more);

  test("one that is registered again identically is the same, its expiry too", async () => {
    const first = await register("--id", "order-1", "--session", "s", "--ttl", "15m");
    expect(first).toMatchObject({ code: 0, stderr: "" });
    const registered = JSON.parse(first.stdout) as Record<string, unknown>;
    expect(registered).toEqual({
      action_id: "order-1",
      action_type: "payment",
      account: "actions",
      session_id: "s",
      expires_at: expect.stringMatching(TIME) as string,
    });
    expect(Math.abs(Date.parse(registered["expires_at"] as string) - Date.now() - 900_000)).toBeLessThan(10_000);
    expect(await register("--id", "order-1", "--session", "s", "--ttl", "2h")).toEqual(first);
  });

  test("another type or session under the id is a failure, another account is not", async () => {
    expect((await register("--id", "order-2", "--session", "s")).code).toBe(0);
    for (const more of [["--type", "login", "--session", "s"], ["--session", "t"], []]) {
      const { code, stdout, stderr } = await register("--id", "order-2", ...more);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain("another type or session");
    }
    expect((await register("--id", "order-2", "--account", "others", "--session", "t")).code).toBe(0);
  });

  test("an id that only a signature could make good is wrong usage while there is a signing secret", async () => {
    const register = ["action", "register", "--account", "one", "--type", "payment", "--id", "v1.mine"];
    const signing = { ...environment, DRS_ACTION_SIGNING_SECRET: "s".repeat(32) };
    const refused = await command(signing, ...register);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("DRS_ACTION_SIGNING_SECRET");
    expect(await object(...register)).toMatchObject({ action_id: "v1.mine" });
  });

  test("ids are made where none is given, all different", async () => {
    const made = await Promise.all([register(), register()]);
    const ids = made.map(({ stdout }) => (JSON.parse(stdout) as { action_id: string }).action_id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^act_/);
  });

  test("revoked ones are refused within seconds, and can't be registered again", async () => {
    const { action_id: actionId } = await object("action", "register", "--account", "one", "--type", "payment");
    const who = { ...one, actionId } as Credentials;
    await store(who);
    expect(await drs("action", "revoke", actionId as string, "--account", "two")).toMatchObject({ code: 1 });
    expect(await drs("action", "revoke", actionId as string, "--account", "one")).toMatchObject({ code: 0 });
    const revoked = Date.now();
    await until(async () => (await post(who)).status === 403);
    expect(Date.now() - revoked).toBeLessThan(6_500);
    const again = ["action", "register", "--account", "one", "--type", "payment", "--id", actionId as string];
    expect(await drs(...again)).toMatchObject({ code: 1, stderr: expect.stringContaining("revoked") as string });
    const row = (await listed("action", "list", "--account", "one")).find((action) => action["action_id"] === actionId);
    expect(row).toMatchObject({ action_type: "payment", revoked_at: expect.stringMatching(TIME) as string });
  });
});

describe("events", () => {
  interface Stored {
    readonly event_id: string;
    readonly account: string;
    readonly action_id: string;
    readonly action_type: string;
    readonly sdk_version: string;
  }
  /** More than one query of a long listing fetches. */
  const MANY = 1_100;
  const stored: Stored[] = [];

  beforeAll(async () => {
    const login = await object("action", "register", "--account", "lists", "--type", "login", "--id", "shared");
    await object("action", "register", "--account", "lists", "--type", "payment", "--id", "pay");
    await object("action", "register", "--account", "lists-2", "--type", "login", "--id", "shared");
    expect(login).toMatchObject({ action_id: "shared" });
    const tokens = await Promise.all(
      ["lists", "lists-2"].map(async (account) => {
        return (await object("token", "issue", "--account", account))["token"] as string;
      }),
    );
    const kinds = [
      { account: "lists", token: tokens[0], action_id: "shared", action_type: "login", sdk_version: "1.0.0" },
      { account: "lists", token: tokens[0], action_id: "pay", action_type: "payment", sdk_version: "1.0.0" },
      { account: "lists", token: tokens[0], action_id: "pay", action_type: "payment", sdk_version: "2.0.0" },
      { account: "lists-2", token: tokens[1], action_id: "shared", action_type: "login", sdk_version: "2.0.0" },
    ];
    const agent = new Agent({ keepAlive: true, maxSockets: 32 });
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < MANY) {
        const { account, token, ...attributes } = kinds[next++ < 1_050 ? 0 : next % 4] as (typeof kinds)[number];
        const who = { ...one, account, token, sessionId: "s" } as Credentials;
        stored.push({ event_id: await store(who, attributes, agent), account, ...attributes });
      }
    };
    await Promise.all(Array.from({ length: 32 }, work));
    agent.destroy();
    stored.sort((a, b) => (a.event_id < b.event_id ? 1 : -1));
  });

  const ids = (rows: readonly (Stored | Record<string, unknown>)[]): unknown[] =>
    rows.map((row) => row["event_id" as never]);
  const those = (fits: (event: Stored) => boolean): unknown[] => ids(stored.filter(fits));

  test.each<[string, string[], (event: Stored) => boolean]>([
    ["by account", ["--account", "lists-2"], ({ account }) => account === "lists-2"],
    ["by account, past one page", ["--account", "lists"], ({ account }) => account === "lists"],
    ["by action", ["--action", "shared"], ({ action_id }) => action_id === "shared"],
    ["by action type", ["--action-type", "login"], ({ action_type }) => action_type === "login"],
    ["by SDK version", ["--sdk-version", "2.0.0"], ({ sdk_version }) => sdk_version === "2.0.0"],
    [
      "by all of them",
      ["--account", "lists", "--action", "pay", "--action-type", "payment", "--sdk-version", "2.0.0"],
      ({ account, sdk_version }) => account === "lists" && sdk_version === "2.0.0",
    ],
    ["by what nobody has", ["--account", "nobody"], () => false],
  ])("%s: all, newest first", async (_, filter, fits) => {
    expect(ids(await listed("event", "list", ...filter, "--limit", "0"))).toEqual(those(fits));
  });

  test("the newest 50 where no limit is given", async () => {
    const mine = those(({ account }) => account === "lists");
    expect(ids(await listed("event", "list", "--account", "lists"))).toEqual(mine.slice(0, 50));
    const { stdout } = await drs("event", "list", "--account", "lists");
    expect(stdout.trimEnd().split("\n")).toHaveLength(51);
  });

  test.each([
    ["--account", "lists"],
    ["--action-type", "login"],
  ])("pages of %s %s, without a gap or a repetition, while others are stored", async (...filter) => {
    const fits = (event: Stored): boolean =>
      filter[0] === "--account" ? event.account === filter[1] : event.action_type === filter[1];
    const collected: unknown[] = [];
    const later: string[] = [];
    for (let after: string[] = []; ;) {
      const page = ids(await listed("event", "list", ...filter, "--limit", "300", ...after));
      collected.push(...page);
      if (page.length < 300) break;
      after = ["--after", page.at(-1) as string];
      later.push(await store({ ...two }, {}));
    }
    expect(later.length).toBeGreaterThan(2);
    expect(collected).toEqual(those(fits));
    const last = collected.at(-1) as string;
    expect(await listed("event", "list", ...filter, "--after", last)).toEqual([]);
  });

  test("--after takes an id that is not there, too", async () => {
    const mine = those(({ account }) => account === "lists-2");
    const list = (after: string): Promise<unknown[]> =>
      listed("event", "list", "--account", "lists-2", "--after", after).then(ids);
    expect(await list("ffffffff-ffff-7fff-bfff-ffffffffffff")).toEqual(mine);
    expect(await list("00000000-0000-7000-8000-000000000000")).toEqual([]);
  });

  test("an event's promoted attributes, as JSON and for people, and nothing of its observations", async () => {
    const collectedAt = new Date(Date.now() - 5_000);
    const request = transport(one, collectedAt);
    const headers = authorized(one, "the key of commands.test");
    expect(
      (await send({ url: server.url, headers: { ...headers, "Idempotency-Key": "key-1" }, body: "" })).status,
    ).toBe(400);
    const answer = await send({
      url: server.url,
      headers: { ...headers, "Idempotency-Key": "key-1" },
      body: JSON.stringify(request),
    });
    const eventId = answer.json["event_id"] as string;
    const shown = await object("event", "get", eventId);
    expect(shown).toEqual({
      event_id: eventId,
      idempotency_key: "key-1",
      account: "one",
      action_id: one.actionId,
      action_type: "payment",
      purpose: "default",
      session_id: one.sessionId,
      event_type: "device_intel_collection",
      schema_version: 1,
      sdk_version: "1.2.3",
      platform: "android",
      app_version: "7.1.0",
      collected_at: collectedAt.toISOString().replace("Z", "000Z"),
      received_at: expect.stringMatching(TIME) as string,
      held: false,
    });
    expect(eventId).toMatch(UUID);
    const { code, stdout } = await drs("event", "get", eventId.toUpperCase());
    expect(code).toBe(0);
    for (const value of Object.values(shown)) expect(stdout).toContain(String(value));
    expect(stdout).not.toContain("sensorCount");
    const operations = (await listed("audit", "list", "--event", eventId)).map(({ operation }) => operation);
    expect(operations).toEqual(["event.read", "event.read", "event.create"]);
  });
});

describe("drift", () => {
  test("departures are counted by path, type and SDK version; odd names under *", async () => {
    const observations = {
      ...transport(one).observations,
      probes: {
        fonts: { status: "success", data: { fontsDigest: 7, "odd name": "a value", fresh_field: true } },
        "an odd probe": { status: "success", data: { x: 1 } },
        fresh_probe: { status: "timeout" },
      },
    };
    for (let n = 0; n < 3; n++) await store(one, { observations, sdk_version: "drift-1" });
    await store(one, { observations, sdk_version: "drift 2" });
    const rows = async (version: string): Promise<Record<string, unknown>[]> =>
      (await listed("drift", "list")).filter((row) => row["sdk_version"] === version);
    await until(async () => (await rows("*")).length > 0);
    const found = (await rows("drift-1")).map((row) => `${String(row["path"])} ${String(row["json_type"])}`);
    expect(found.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      "* object",
      "fonts.* string",
      "fonts.fontsDigest number",
      "fonts.fresh_field boolean",
      "fresh_probe object",
    ]);
    for (const { occurrences } of await rows("drift-1")) expect(occurrences).toBe(3);
    const { stdout } = await drs("drift", "list");
    for (const odd of ["odd name", "an odd probe", "a value", "drift 2"]) expect(stdout).not.toContain(odd);
    const counts = (await listed("drift", "list")).map((row) => row["occurrences"] as number);
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
  });
});

test("drs config prints durations as they are written", async () => {
  const { stdout } = await command({ DRS_REQUEST_TIMEOUT: "5s", DRS_KEY_BACKUP_RETENTION: "30d" }, "config");
  expect(stdout).toMatch(/^DRS_REQUEST_TIMEOUT=5s$/m);
  expect(stdout).toMatch(/^DRS_KEY_BACKUP_RETENTION=30d$/m);
  expect(stdout).toMatch(/^DRS_MAX_AGE=24h$/m);
});

describe("names that clients chose", () => {
  const HOSTILE = "\u001b]0;pwned\u0007\u009b31m\u202e\u{E0041}\u007f\r\n\t";

  test("steer no terminal, in a table or as JSON, and are kept as they are", async () => {
    const who = { ...one, sessionId: `s${HOSTILE}` };
    const key = freshKey();
    const sdk = `v${HOSTILE}`;
    const body = { ...transport(who), sdk_version: sdk, app_version: `a${HOSTILE}` };
    const answer = await send({ url: server.url, headers: authorized(one, key), body: JSON.stringify(body) });
    expect(answer.status, answer.text).toBe(201);
    const eventId = answer.json["event_id"] as string;

    for (const json of [[], ["--json"]]) {
      for (const args of [
        ["event", "get", eventId],
        ["event", "list", "--sdk-version", sdk],
        ["drift", "list"],
        ["audit", "list"],
      ]) {
        const { code, stdout } = await drs(...args, ...json);
        expect(code).toBe(0);
        expect(stdout.length).toBeGreaterThan(10);
        expect(stdout, args.join(" ")).not.toMatch(CONTROLS);
      }
    }
    expect(await object("event", "get", eventId)).toMatchObject({
      session_id: who.sessionId,
      sdk_version: sdk,
      app_version: `a${HOSTILE}`,
    });
    const { stdout } = await drs("event", "list", "--sdk-version", sdk);
    expect(stdout).toContain("v\\u001b]0;pwned\\u0007\\u009b31m\\u202e\\udb40\\udc41\\u007f\\u000d\\u000a\\u0009");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
  });

  test("steer none in what an operator registers either", async () => {
    const args = ["--account", `acc${HOSTILE}`, "--type", `t${HOSTILE}`, "--id", `i${HOSTILE}`];
    const printed = [
      await drs("action", "register", ...args),
      await drs("action", "register", ...args, "--json"),
      await drs("action", "list"),
      await drs("token", "issue", "--account", `acc${HOSTILE}`),
      await drs("token", "list", "--json"),
    ];
    for (const { code, stdout } of printed) {
      expect(code).toBe(0);
      expect(stdout).not.toMatch(CONTROLS);
    }
  });
});
