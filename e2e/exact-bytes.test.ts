import { gzipSync } from "node:zlib";
import { Writable } from "node:stream";
import { fullEvent } from "../bench/src/full-event.ts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../packages/server/src/cli/run-program.ts";
import { authorized, freshKey, send, transport } from "./support/client.ts";
import { contextWith, withBreakGlass } from "./support/command.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { type Credentials, issueCredentials, runDrs, type ServerProcess, startServer } from "./support/server.ts";
import { rounds } from "./support/soak.ts";

const EVENTS = rounds(60, 500);

let database: TestDatabase;
let environment: Record<string, string>;
let server: ServerProcess;
let who: Credentials;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  who = await issueCredentials(environment, "exact");
  server = await startServer({ ...environment, DRS_THROTTLE_RATE: "0" });
});

afterAll(async () => {
  await server.stop();
  await database.close();
});

/**
 * Stores the event with this text, in a transport request with `observations` at the position.
 * @returns the id of the event
 */
async function store(
  event: string | Buffer,
  position: "first" | "middle" | "last" = "last",
  gzip = false,
): Promise<string> {
  const { observations: _, ...metadata } = transport(who);
  const others = Object.entries(metadata).map(([name, value]) =>
    Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`),
  );
  const at = { first: 0, middle: 2, last: others.length }[position];
  others.splice(at, 0, Buffer.concat([Buffer.from('"observations" : '), Buffer.from(event)]));
  const body = Buffer.from(`{ ${others.map((part) => part.toString("latin1")).join(" , ")} }\n`, "latin1");
  const headers = { ...authorized(who), ...(gzip && { "Content-Encoding": "gzip" }) };
  const answer = await send({ url: server.url, headers, body: gzip ? gzipSync(body) : body });
  expect(answer.status, answer.text).toBe(201);
  return answer.json["event_id"] as string;
}

/** Runs `drs event get --raw` in this process. */
async function readRaw(
  eventId: string,
  { isTerminal = false, stderr = process.stderr as Writable } = {},
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  const context = { ...contextWith(environment, sink, stderr), isTerminal };
  const get = withBreakGlass(environment, ["event", "get", eventId, "--raw", "--reason", "test"]);
  const code = await runProgram(context, get);
  expect(code).toBe(0);
  return Buffer.concat(chunks);
}

const envelope = (probes: string): string =>
  `{"session_id":"${who.sessionId}","event_type":"device_intel_collection","schema_version":1,` +
  `"collected_at":"${new Date().toISOString()}","probes":${probes}}`;

describe("the exact bytes of an event come back", () => {
  test(`for ${EVENTS} generated events`, async () => {
    const { sessionId } = who;
    const { randomEvent } = await import("./support/random-event.ts");
    const position = fc.constantFrom("first" as const, "middle" as const, "last" as const);
    await fc.assert(
      fc.asyncProperty(
        randomEvent(sessionId, new Date().toISOString()),
        position,
        fc.boolean(),
        async (event, at, gzip) => {
          const eventId = await store(event, at, gzip);
          expect((await readRaw(eventId)).toString("utf8")).toBe(event);
        },
      ),
      { numRuns: EVENTS, endOnFailure: true },
    );
  }, 300_000);

  test.each([
    [
      "numbers as they are spelt",
      '{"p":{"status":"success","data":{"a":12345678901234567890,"b":1.0,"c":1e2,"d":-0,"e":1.230e-5}}}',
    ],
    [
      "escapes",
      String.raw`{"p":{"status":"success","data":{"a":"\u00e9","b":"\ud83d\ude00","c":"\/","\u0061":"a2"}}}`.replace(
        '"\\u0061":"a2"',
        '"z":"\\u0061"',
      ),
    ],
    ["__proto__ as a probe", '{"__proto__":{"status":"success","data":{"__proto__":{"x":1},"constructor":2}}}'],
    ["characters of every length", '{"p":{"status":"success","data":{"é":"ü\u{1F600}\uFFFD\uFFFF"}}}'],
    ["white space and order", '{ "z" : { "status" : "timeout" } ,\n\t"a":{"error":"","status":"error"}}'],
    ["no probes", "{}"],
    [
      "300 unknown probes",
      JSON.stringify(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`probe_${n}`, { status: "timeout" }]))),
    ],
    ["100,000 array elements", `{"p":{"status":"success","data":{"list":[${"1,".repeat(99_999)}1]}}}`],
    [
      "as many members as fit",
      `{"p":{"status":"success","data":{${Array.from({ length: 25_000 }, (_, n) => `"${n.toString(36)}":0`).join(",")}}}}`,
    ],
    ["64 levels", `{"p":{"status":"success","data":{"deep":${"[".repeat(59)}${"]".repeat(59)}}}}`],
  ])("for %s", async (_, probes) => {
    const event = envelope(probes);
    expect((await readRaw(await store(event))).equals(Buffer.from(event))).toBe(true);
  });

  test("for a body whose size is exactly the limit", async () => {
    const { observations: _, ...metadata } = transport(who);
    const frame = JSON.stringify({ ...metadata, observations: 0 }).length - 1;
    const empty = envelope('{"p":{"status":"success","data":{"text":""}}}');
    const event = empty.replace('"text":""', `"text":"${"x".repeat(262_144 - frame - empty.length)}"`);
    const body = `${JSON.stringify(metadata).slice(0, -1)},"observations":${event}}`;
    expect(body.length).toBe(262_144);
    const answer = await send({ url: server.url, headers: authorized(who), body });
    expect(answer.status, answer.text).toBe(201);
    expect((await readRaw(answer.json["event_id"] as string)).toString()).toBe(event);
  });

  test("for a full event, through the command line in a separate process", async () => {
    const event = JSON.stringify({ ...fullEvent(7, new Date()), session_id: who.sessionId });
    const eventId = await store(event);
    const result = await runDrs(environment, ["event", "get", eventId, "--raw", "--reason", "a dispute"]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout.toString()).toBe(event);
  });

  test("with escapes of characters that could control a terminal, if standard output is one", async () => {
    const controls = "\u007f \u0085 \u009b31m \u202e \u2066 \ufeff \u{e0001} \u2028 \\u001b[2J";
    const event = envelope(`{"p":{"status":"success",\n\t"data":{"a":"${controls}"}}}`);
    const eventId = await store(event);
    let said = "";
    const stderr = new Writable({
      write(chunk: Buffer, _, done) {
        said += chunk.toString();
        done();
      },
    });
    const shown = (await readRaw(eventId, { isTerminal: true, stderr })).toString();
    expect(shown).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(shown).toContain(String.raw`"\u007f \u0085 \u009b31m \u202e \u2066 \ufeff \udb40\udc01 \u2028 \u001b[2J"`);
    expect(said).toContain("redirect standard output");
    expect((await readRaw(eventId)).toString()).toBe(event);
  });

  test("only with a reason, which is audited", async () => {
    const eventId = await store(envelope("{}"));
    const refused = await runDrs(environment, ["event", "get", eventId, "--raw"]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stdout).toHaveLength(0);
    await readRaw(eventId);
    const { stdout } = await runDrs(environment, ["audit", "list", "--event", eventId, "--json"]);
    const entries = stdout
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries).toMatchObject([
      {
        operation: "event.read_raw",
        reason: "test",
        event_id: eventId,
        account: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
      {
        operation: "event.create",
        outcome: "accepted",
        event_id: eventId,
        account: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    ]);
  });

  test("without a change of any object's prototype", async () => {
    await store(envelope('{"__proto__":{"status":"success","data":{"__proto__":{"polluted":true}}}}'));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    const key = freshKey();
    const answer = await send({ url: server.url, headers: authorized(who, key), body: JSON.stringify(transport(who)) });
    expect(answer.status).toBe(201);
  });
});
