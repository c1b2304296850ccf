/** Tests of variables of libpq and of `pg` in the environment of a server, and of a start that fails. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authorized, send, transport } from "../support/client.ts";
import { sharedDatabase, type TestDatabase } from "../support/database.ts";
import { type Home, makeHome } from "../support/embedded.ts";
import { issueCredentials, runDrs, startServer } from "../support/server.ts";

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
  NODE_PG_FORCE_NATIVE: "1",
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
])("a server with %s database stores events, and ignores variables of the driver", async (_, environmentOf) => {
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

test("a start whose PostgreSQL refuses its owner says so, and leaves no process", async () => {
  const access = join(home.dataDir, "postgres", "pg_hba.conf");
  const before = await readFile(access);
  await writeFile(access, "local all all reject\n");
  try {
    const started = Date.now();
    const { code, stderr } = await runDrs(home.environment, ["serve"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("it refuses its owner (SQLSTATE 28000)")]);
    expect(Date.now() - started).toBeLessThan(30_000);
    expect(await home.postgres()).toEqual([]);
  } finally {
    await writeFile(access, before);
  }
});
