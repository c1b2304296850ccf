/** Tests of a database that accepts the serving login and refuses the owner's. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authorized, type Reply, send, transport } from "./support/client.ts";
import { runWithBreakGlass } from "./support/command.ts";
import { connectAsOwner, type OwnerClient, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { issueCredentials, startServer } from "./support/server.ts";

const login = `owner_${randomBytes(4).toString("hex")}`;
let database: TestDatabase;
let environment: Record<string, string>;
let owner: OwnerClient;

beforeAll(async () => {
  database = await sharedDatabase();
  const own = await database.environment();
  owner = await connectAsOwner(own);
  const url = (own["DRS_DATABASE_URL"] ?? "").replace("postgres@", `${login}@`);
  environment = { ...own, DRS_MIGRATION_DATABASE_URL: url };
});

afterAll(async () => {
  await owner?.query(`drop role if exists ${login}`);
  await owner?.end();
  await database?.close();
});

test("a refused login of the owner is in readiness and in the doctor's findings until it is accepted", async () => {
  const who = await issueCredentials(environment);
  await using closing = new AsyncDisposableStack();
  const server = await startServer(environment);
  closing.defer(async () => void (await server.stop()));
  const readiness = (): Promise<Reply> => send({ url: server.adminUrl, method: "GET", path: "/readyz" });
  const post = (): Promise<Reply> =>
    send({ url: server.url, headers: authorized(who), body: JSON.stringify(transport(who)) });

  await until(async () => (await readiness()).text.includes("owner's login"));
  const { status, text } = await readiness();
  expect(status, "events are stored").toBe(200);
  expect((await post()).status).toBe(201);
  expect(text).toMatch(/^database with the owner's login: refuses the login/m);
  const { code, stdout } = await runWithBreakGlass(environment, "doctor");
  expect(code).toBe(1);
  expect(stdout).toMatch(/^FAIL {2}owner's login: .*refuses the login/m);

  await owner.query(`create role ${login} login superuser`);
  await until(async () => (await readiness()).text === "ok\n");
  expect((await runWithBreakGlass(environment, "doctor")).stdout).toMatch(/^ok {4}owner's login: logs in/m);
});
