/**
 * `npm run bench:refusals`: measures the memory of a server under rejected requests of the maximum size, next to a server
 * under accepted ones. Prints the largest resident memory for each kind of rejection, and ends with exit code 1 if one
 * exceeds that of accepted load by more than a quarter. `--requests N` (default 5,000) of each kind, `--only TEXT` (kinds
 * whose name contains the text), `--together` (one server gets all kinds, one after the other), `--server DIR` (measures
 * the server of another checkout, where `npm ci` has run).
 */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Agent, request as httpRequest } from "node:http";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { COSTLY, eventOf } from "./costly-bodies.ts";
import { migrate, openScene, print, printed, READY } from "./scene.ts";
import { residentOf } from "./usage.ts";

const MAX_RATIO = 1.25;
const LIMIT = 262_144;
const CONNECTIONS = 32;
const MEBIBYTE = 1_048_576;

const { values: options } = parseArgs({
  options: {
    requests: { type: "string", default: "5000" },
    only: { type: "string", default: "" },
    together: { type: "boolean", default: false },
    server: { type: "string", default: join(import.meta.dirname, "../..") },
  },
});
const REQUESTS = Number(options.requests);
const drs = join(resolve(options.server), "packages/server/bin/drs.js");
const run = promisify(execFile);

const scene = await openScene();
await scene.createDatabase("refusals");
const env = { ...process.env, ...scene.environmentOf("refusals"), DRS_PROCESSES: "1" };
await migrate(drs, env);
const issue = [drs, "token", "issue", "--account", "sender", "--ttl", "24h", "--json"];
const { token } = JSON.parse((await run(process.execPath, issue, { env })).stdout) as { token: string };
const register = ["action", "register", "--account", "sender", "--type", "payment", "--id", "act", "--ttl", "24h"];
await run(process.execPath, [drs, ...register], { env });

interface Kind {
  readonly status: number;
  /** A second status that some of the requests may get. */
  readonly also?: number;
  /** Maximum number of requests. */
  readonly most?: number;
  readonly body: (index: number) => Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const full = (text: string): Buffer => Buffer.from(text.padEnd(LIMIT, " "));
const constant = (text: string | Buffer, status: number, headers?: Kind["headers"]): Kind => {
  const body = Buffer.isBuffer(text) ? text : full(text);
  return { status, body: () => body, ...(headers && { headers }) };
};
const longEvent = (actionId: string): string => COSTLY["one long string"]?.(actionId) ?? "";
const gzip = { "Content-Encoding": "gzip" };

const ACCEPTED: Kind = { status: 201, body: (index) => full(longEvent("act").replace("xxxxxxxx", hex(index))) };
const hex = (index: number): string => index.toString(16).padStart(8, "0");

const REFUSALS: Readonly<Record<string, Kind>> = {
  "deep nesting": constant("[".repeat(100_000), 400),
  "white space only": constant("", 400),
  "a text that ends too early": constant(longEvent("act").slice(0, -1), 400),
  "invalid UTF-8": constant(Buffer.concat([Buffer.from(longEvent("act").slice(0, -9)), Buffer.from([0xff])]), 400),
  ...Object.fromEntries(
    Object.entries(COSTLY)
      .filter(([name]) => name !== "one long string")
      .map(([name, make]) => [name, constant(make("act").replace('"schema_version":1', '"schema_version":2'), 400)]),
  ),
  "a duplicate name": constant(longEvent("act").replace('"probes"', '"session_id":"s","probes"'), 400),
  "a stale event": constant(eventOf("act", new Date(0)), 400),
  "an unknown action": constant(longEvent("another"), 403),
  "one byte too long": constant(Buffer.concat([full(""), Buffer.from(" ")]), 400),
  "gzip of one byte too many": constant(gzipSync(Buffer.alloc(LIMIT + 1, " ")), 400, gzip),
  "gzip of invalid data": constant(randomBytes(LIMIT), 400, gzip),
  "another payload under a used key": {
    status: 409,
    also: 201,
    // An account has 1,000 comparisons in an hour.
    most: 900,
    body: ACCEPTED.body,
    headers: { "Idempotency-Key": "used" },
  },
  "another media type": constant(longEvent("act"), 415, { "Content-Type": "text/plain" }),
  // After the first failures of the address, the server answers 429.
  "no credentials": { ...constant(longEvent("act"), 401, { Authorization: "" }), also: 429 },
};

const chosen = Object.entries(REFUSALS).filter(([name]) => name.includes(options.only));
const servers = options.together
  ? [["all rejections", chosen] as const]
  : chosen.map(([name, kind]) => [name, [[name, kind]]] as const);
const peaks = new Map<string, number>();
// The memory of accepted load grows for some hundred requests.
const base = await peakOf([["accepted events", ACCEPTED]], Math.max(REQUESTS, 1_000));
for (const [name, kinds] of servers) peaks.set(name, await peakOf(kinds, REQUESTS));
await scene.close();

print("");
print(`${REQUESTS} requests of each kind, ${CONNECTIONS} connections; MiB of resident memory at most`);
print("");
print("| requests | memory | ÷ accepted |");
print("| --- | --- | --- |");
for (const [name, peak] of [["accepted events", base] as const, ...peaks]) {
  print(`| ${name} | ${(peak / MEBIBYTE).toFixed(0)} | ${(peak / base).toFixed(2)} |`);
}
const isExceeded = [...peaks.values()].some((peak) => peak > base * MAX_RATIO);
process.exit(isExceeded ? 1 : 0);

/** Sends requests of each kind to a server of its own. @returns the server's largest memory in bytes. */
async function peakOf(kinds: readonly (readonly [string, Kind])[], requests: number): Promise<number> {
  const server = spawn(process.execPath, [drs, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const url = await printed(server, READY);
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, residentOf(server.pid ?? 0))), 20);
  for (const [name, kind] of kinds) {
    await sendAll(url, name, kind, Math.min(requests, kind.most ?? requests));
    print(`${name}: ${(peak / MEBIBYTE).toFixed(0)} MiB`);
  }
  clearInterval(timer);
  server.removeAllListeners("exit");
  const ended = new Promise((wake) => server.once("exit", wake));
  server.kill("SIGTERM");
  await ended;
  return peak;
}

async function sendAll(url: string, name: string, kind: Kind, requests: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = 0;
  const send = async (): Promise<void> => {
    for (let index = next++; index < requests; index = next++) {
      const status = await post(url, agent, kind, `${name}-${index}`.replaceAll(" ", "-"), index);
      if (status !== kind.status && status !== kind.also)
        throw new Error(`${name}: answered ${status}, not ${kind.status}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  agent.destroy();
}

function post(url: string, agent: Agent, { body, headers }: Kind, key: string, index: number): Promise<number> {
  const all = {
    Authorization: `Bearer ${token}`,
    "Idempotency-Key": key,
    "Content-Type": "application/json",
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/api/v1/device-signal-events`, { method: "POST", agent, headers: all });
    request.on("response", (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    // A server that answers early closes the connection while the client may still send.
    request.on("error", reject);
    request.end(body(index));
  });
}
