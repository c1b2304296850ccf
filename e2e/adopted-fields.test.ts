/**
 * Tests of adopted fields, which features read. The server checks their values against the published schema. A file
 * names the adopted fields, and may change while the server runs. An app that embeds the endpoint may instead name them
 * when it creates the endpoint.
 */
import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEndpoint, optionsFromEnvironment } from "../packages/server/src/index.ts";
import { nodeHandler } from "../packages/server/src/http/node-handler.ts";
import { authorized, type Reply, send, transport } from "./support/client.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";
import { until } from "./support/embedded.ts";
import { type Credentials, issueCredentials, runDrs, type ServerProcess, startServer } from "./support/server.ts";

const SDK_INT = ["device_identity", "androidBuild", "sdkInt"];
const IN_FORCE_WITHIN_MS = 2_000;

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;
let environment: Record<string, string>;
let server: ServerProcess;
let who: Credentials;

beforeAll(async () => {
  database = await sharedDatabase();
  folder = await temporaryFolder();
  file = join(folder.path, "adopted.json");
  await adopt([SDK_INT]);
  environment = { ...(await database.environment()), DRS_ADOPTED_FIELDS_FILE: file, DRS_THROTTLE_RATE: "0" };
  who = await issueCredentials(environment, "who");
  server = await startServer(environment);
});

afterAll(async () => {
  await server?.stop();
  await folder?.remove();
  await database?.close();
});

/** Replaces the file in one step, as a deployment does. */
async function adopt(content: unknown): Promise<void> {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

/** Posts an event whose `device_identity` has this data. */
function post(data: Record<string, unknown>, url = server.url): Promise<Reply> {
  const request = transport(who);
  request.observations["probes"] = { device_identity: { status: "success", data } };
  return send({ url, headers: authorized(who), body: JSON.stringify(request) });
}

const WRONG_MODEL = { model: 1 };
const WRONG_SDK_INT = { androidBuild: { sdkInt: "36" } };

function expectRefused(reply: Reply, ...pointers: readonly string[]): void {
  expect([reply.status, reply.json["type"]]).toEqual([400, "urn:problem:device-risk-signals:adopted-field-invalid"]);
  const errors = reply.json["errors"] as { pointer: string; code: string }[];
  expect(errors.map(({ pointer, code }) => [pointer, code])).toEqual(
    pointers.map((pointer) => [`/observations/probes/device_identity/data${pointer}`, "catalog-departure"]),
  );
}

const invalid = async (): Promise<boolean> =>
  /^drs_adopted_fields_file_invalid 1$/m.test(
    (await send({ url: server.adminUrl, method: "GET", path: "/metrics" })).text,
  );

const doctor = async (): Promise<string> => (await runDrs(environment, ["doctor"])).stdout.toString();

test("an adopted member and the object around it are checked against the schema", async () => {
  expectRefused(await post(WRONG_SDK_INT), "/androidBuild/sdkInt");
  expectRefused(await post({ androidBuild: "x" }), "/androidBuild");
  expect((await post({ androidBuild: { sdkInt: 36 } })).status).toBe(201);
});

test("a wrong type in a field that is not adopted is stored, even if the field's name equals the joined path of an adopted field", async () => {
  expect((await post({ "androidBuild.sdkInt": "x" })).status).toBe(201);
  expect((await post({ ...WRONG_MODEL, androidBuild: { board: 1, serial: "x" } })).status).toBe(201);
});

describe("a changed file of adopted fields", () => {
  test("is active within 2 s, without a restart", async () => {
    expect((await post(WRONG_MODEL)).status).toBe(201);
    await adopt([["device_identity", "model"]]);
    await until(async () => (await post(WRONG_MODEL)).status === 400, IN_FORCE_WITHIN_MS);
    expectRefused(await post({ ...WRONG_MODEL, ...WRONG_SDK_INT }), "/model");
    await adopt([SDK_INT]);
    await until(async () => (await post(WRONG_MODEL)).status === 201, IN_FORCE_WITHIN_MS);
  });

  test("that is invalid leaves the previous fields active, and is reported once in log, metrics and doctor", async () => {
    expect(await invalid()).toBe(false);
    expect(await doctor()).toMatch(/^ok {4}adopted fields: 1 of /m);
    await adopt([["device_identity", "modell"]]);
    await until(invalid, IN_FORCE_WITHIN_MS);
    expectRefused(await post(WRONG_SDK_INT), "/androidBuild/sdkInt");
    expect(await doctor()).toMatch(/^FAIL {2}adopted fields: .*\["device_identity","modell"\]/m);
    await adopt([SDK_INT]);
    await until(async () => !(await invalid()), IN_FORCE_WITHIN_MS);
    const lines = server
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"adopted-fields-invalid"'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("modell");
    expect(lines[0]).toContain("stay active");
  });
});

describe("a retry of an event that was stored before the adoption of a field", () => {
  const MORE_THAN_THE_SCANNER_LISTS = Object.fromEntries(Array.from({ length: 513 }, (_, n) => [`n${n}`, n]));
  const postWith = (key: string, body: string): Promise<Reply> =>
    send({ url: server.url, headers: authorized(who, key), body });

  test.for([
    { body: "small enough for the scanner", extra: {} },
    { body: "with more departures than the scanner lists", extra: MORE_THAN_THE_SCANNER_LISTS },
  ])("is a replay, and another payload a conflict: $body", async ({ extra }) => {
    const request = transport(who);
    request.observations["probes"] = { device_identity: { status: "success", data: { ...WRONG_MODEL, ...extra } } };
    const body = JSON.stringify(request);
    const key = randomUUID();
    const created = await postWith(key, body);
    expect(created.status).toBe(201);
    await adopt([["device_identity", "model"]]);
    try {
      await until(async () => (await postWith(randomUUID(), body)).status === 400, IN_FORCE_WITHIN_MS);
      expectRefused(await postWith(randomUUID(), body), "/model");
      const replay = await postWith(key, body);
      expect([replay.status, replay.json]).toEqual([200, { event_id: created.json["event_id"], created: false }]);
      expect(replay.headers["idempotency-replayed"]).toBe("true");
      const respelled = await postWith(key, ` ${body}`);
      expect([respelled.status, respelled.json]).toEqual([200, replay.json]);
      expect((await postWith(key, body.replace('"model":1', '"model":2'))).status).toBe(409);
    } finally {
      await adopt([SDK_INT]);
      await until(async () => (await post(WRONG_MODEL)).status === 201, IN_FORCE_WITHIN_MS);
    }
  });
});

test("a server does not start with an invalid file of adopted fields, and prints the reason", async () => {
  const other = join(folder.path, "other.json");
  await writeFile(other, JSON.stringify([["os_integrity", "isEmulated"]]));
  const starting = startServer({ ...environment, DRS_ADOPTED_FIELDS_FILE: other });
  await expect(starting).rejects.toThrow(/DRS_ADOPTED_FIELDS_FILE: .*\["os_integrity","isEmulated"\]/);
  await expect(startServer({ ...environment, DRS_ADOPTED_FIELDS_FILE: `${other}x` })).rejects.toThrow(/ENOENT/);
});

describe("a host that embeds the endpoint", () => {
  const hostEnvironment = (): Record<string, string> => {
    const { DRS_ADOPTED_FIELDS_FILE: _, ...rest } = environment;
    return rest;
  };

  test("may name the adopted fields itself", async () => {
    const endpoint = await createEndpoint({ ...optionsFromEnvironment(hostEnvironment()), adoptedFields: [SDK_INT] });
    const host = createServer((request, response) => void nodeHandler(endpoint.ingest)(request, response));
    await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
      expectRefused(await post(WRONG_SDK_INT, url), "/androidBuild/sdkInt");
      expect((await post(WRONG_MODEL, url)).status).toBe(201);
    } finally {
      host.closeAllConnections();
      host.close();
      await endpoint.close();
    }
  });

  test("can't start if it names an unknown field, or if a file is also configured", async () => {
    const options = optionsFromEnvironment(hostEnvironment());
    const unknown = createEndpoint({ ...options, adoptedFields: [["fonts", "digest"]] });
    await expect(unknown).rejects.toThrow(
      new TypeError('adoptedFields names what the catalog does not list as a field: ["fonts","digest"]'),
    );
    const both = createEndpoint({ ...optionsFromEnvironment(environment), adoptedFields: [SDK_INT] });
    await expect(both).rejects.toThrow(/exclude each other/);
  });
});
