/**
 * Tests of connections that no well-behaved client makes. The server must end each connection, and none may use much
 * memory.
 */
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorized, freshKey, PATH, send, transport } from "./support/client.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { type Credentials, issueCredentials, type ServerProcess, startServer } from "./support/server.ts";

let database: TestDatabase;
let server: ServerProcess;
let who: Credentials;

beforeAll(async () => {
  database = await sharedDatabase();
  const environment = await database.environment();
  who = await issueCredentials(environment, "hostile");
  server = await startServer({ ...environment, DRS_THROTTLE_RATE: "0", DRS_REQUEST_TIMEOUT: "2s" });
});

afterAll(async () => {
  await server.stop();
  await database.close();
});

function open(): { socket: Socket; text: () => string; closed: Promise<void> } {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  socket.on("error", () => {});
  return { socket, text: () => text, closed: new Promise((resolve) => socket.once("close", () => resolve())) };
}

const head = (key: string, ...more: readonly string[]): string =>
  [
    `POST ${PATH} HTTP/1.1`,
    "Host: test",
    ...Object.entries(authorized(who, key)).map(([name, value]) => `${name}: ${value}`),
    ...more,
    "",
    "",
  ].join("\r\n");

async function residentMegabytes(): Promise<number> {
  const status = await readFile(`/proc/${server.process.pid}/status`, "latin1");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

describe("the server ends a connection", () => {
  test.each([
    ["garbage", (): string => "\u0001\u0002\r\n\r\n"],
    ["half a head", (): string => "POST / HTTP/1.1\r\nHost: te"],
    ["a head and half a body", (): string => `${head(freshKey(), "Content-Length: 1000")}{`],
  ])("after %s, although the client does nothing more", async (_, bytes) => {
    const { socket, text, closed } = open();
    socket.write(bytes());
    await expect.poll(text, { timeout: 15_000 }).toMatch(/^HTTP\/1\.1 4\d\d /);
    await wait(1_500);
    // If the server has closed the connection, a write makes the client's socket close at once.
    const writing = setInterval(() => socket.write("x"), 100);
    const end = await Promise.race([closed.then(() => "closed"), wait(3_000).then(() => "open")]);
    clearInterval(writing);
    expect(end).toBe("closed");
  });
});

test("a malformed request after a valid one does not get the answer of the valid one", async () => {
  const { socket, text, closed } = open();
  const body = JSON.stringify(transport(who));
  socket.write(`${head(freshKey(), `Content-Length: ${Buffer.byteLength(body)}`)}${body}\u0001G\r\n\r\n`);
  await Promise.race([closed, wait(5_000)]);
  expect(text()).toMatch(/^HTTP\/1\.1 201 /);
  expect(text().match(/HTTP\/1\.1/g)).toHaveLength(1);
});

test("bodies in chunks of one byte need memory for their bytes and not for each chunk", async () => {
  const chunks = "1\r\n \r\n".repeat(100_000);
  const before = await residentMegabytes();
  const connections = Array.from({ length: 16 }, open);
  for (const { socket } of connections) socket.write(head(freshKey(), "Transfer-Encoding: chunked") + chunks);
  await wait(4_000);
  // On a busy machine the server may still be reading, and V8 collects later.
  await expect.poll(async () => (await residentMegabytes()) - before, { timeout: 30_000 }).toBeLessThan(250);
  for (const { socket } of connections) socket.destroy();
  // A busy machine may need more than the server's time limit for what is left of the chunks.
  const body = JSON.stringify(transport(who));
  const answer = () => send({ url: server.url, headers: authorized(who), body });
  await expect.poll(async () => (await answer()).status, { timeout: 30_000 }).toBe(201);
});

test("an answer stays small, even if the client chose many long names", async () => {
  const request = transport(who);
  const names = Array.from({ length: 1_900 }, (_, index) => `${"\u0001".repeat(120)}${index}`);
  request.observations["probes"] = Object.fromEntries(names.map((name) => [name, 0]));
  const body = JSON.stringify(request).replaceAll("\\u0001", "\u007f");
  const answer = await send({ url: server.url, headers: authorized(who), body });
  expect(answer.status).toBe(400);
  expect(answer.text.length).toBeLessThan(100_000);
  expect((answer.json["errors"] as { code: string }[]).at(-1)?.code).toBe("more-errors");
});

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
