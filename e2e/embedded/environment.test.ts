/** Tests of variables of libpq in the environment of a server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { authorized, send, transport } from "../support/client.ts";
import { sharedDatabase, type TestDatabase } from "../support/database.ts";
import { type Home, makeHome } from "../support/embedded.ts";
import { issueCredentials, startServer } from "../support/server.ts";

const VARIABLES = {
  PGHOST: "nowhere.invalid",
  PGHOSTADDR: "192.0.2.1",
  PGPORT: "1",
  PGUSER: "nobody",
  PGDATABASE: "absent",
  PGPASSWORD: "wrong",
  PGPASSFILE: "/nonexistent",
  PGSERVICE: "absent",
  PGSERVICEFILE: "/nonexistent",
  PGOPTIONS: "-c default_transaction_read_only=on",
  PGSSLMODE: "require",
  PGSSLNEGOTIATION: "direct",
  PGREQUIRESSL: "1",
  PGAPPNAME: "another",
  PGCLIENTENCODING: "LATIN1",
  PGTZ: "Asia/Kolkata",
  PGDATESTYLE: "SQL, DMY",
  PGGEQO: "off",
  PGREPLICATION: "database",
  PGTARGETSESSIONATTRS: "read-only",
  PGCONNECT_TIMEOUT: "1",
  PGDATA: "/nonexistent",
};

let home: Home;
let database: TestDatabase;

beforeAll(async () => {
  home = await makeHome();
  database = await sharedDatabase();
});

afterAll(async () => {
  await home?.remove();
  await database?.close();
});

test.each([
  ["an embedded", async () => home.environment],
  ["an external", () => database.environment()],
])("a server with %s database stores events, and ignores the variables of libpq", async (_, environmentOf) => {
  const environment = { ...(await environmentOf()), ...VARIABLES };
  const server = await startServer(environment);
  try {
    const who = await issueCredentials(environment, "one");
    const stored = await send({ url: server.url, headers: authorized(who), body: JSON.stringify(transport(who)) });
    expect(stored.status).toBe(201);
    expect(await send({ url: server.adminUrl, method: "GET", path: "/readyz" })).toMatchObject({ text: "ok\n" });
    expect(server.stderr()).not.toContain("SECURITY WARNING");
  } finally {
    await server.stop();
  }
});
