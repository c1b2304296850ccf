/** Tests of the image's health check: the command that the Dockerfile names, on servers with several settings. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeCertificate } from "./support/certificate.ts";
import { send } from "./support/client.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { freePort } from "./support/free-port.ts";
import { startServer } from "./support/server.ts";
import { useFolder } from "./support/use-folder.ts";

const ROOT = join(import.meta.dirname, "..");
const folder = useFolder();
let database: TestDatabase;
let command: readonly string[];

beforeAll(async () => {
  database = await sharedDatabase();
  const dockerfile = await readFile(join(ROOT, "Dockerfile"), "utf8");
  command = JSON.parse(/HEALTHCHECK [^[]*CMD (\[.*\])/.exec(dockerfile)?.[1] ?? "[]") as string[];
});

afterAll(() => database?.close());

/** Runs the command of the image, whose `node` is the one of this test. */
async function check(environment: Readonly<Record<string, string>>): Promise<{ code: number; stderr: string }> {
  const [program, ...args] = command;
  expect(program).toBe("node");
  return promisify(execFile)(process.execPath, args, {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], ...environment },
  }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
}

test.each([
  ["in clear", async () => ({ DRS_ADMIN_HOST: "127.0.0.1" })],
  [
    "with TLS on every interface",
    async () => {
      const { cert, key } = await makeCertificate(folder(), "admin.example");
      return { DRS_ADMIN_HOST: "0.0.0.0", DRS_ADMIN_TLS_CERT_FILE: cert, DRS_ADMIN_TLS_KEY_FILE: key };
    },
  ],
] as const)("the image's health check follows the settings of the admin listener: %s", async (_, settingsOf) => {
  const environment: Record<string, string> = {
    ...(await database.environment()),
    ...(await settingsOf()),
    DRS_ADMIN_PORT: String(await freePort()),
  };
  const server = await startServer(environment);
  try {
    expect(await check(environment)).toEqual({ code: 0, stderr: "" });
  } finally {
    await server.stop();
  }
  const { code, stderr } = await check(environment);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/\/livez gives no answer \(ECONNREFUSED\)/),
  });
});

test("the image's health check passes while the database is away, because a restart would not help", async () => {
  const environment: Record<string, string> = {
    ...(await database.environment()),
    DRS_ADMIN_PORT: String(await freePort()),
  };
  const server = await startServer(environment);
  const owner = new pg.Client(database.url("postgres"));
  await owner.connect();
  try {
    const name = new URL(environment["DRS_DATABASE_URL"] ?? "").pathname.slice(1);
    await owner.query(`alter database ${name} with allow_connections false`);
    await owner.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
    await until(async () => (await send({ url: server.adminUrl, method: "GET", path: "/readyz" })).status === 503);
    expect(await check(environment)).toEqual({ code: 0, stderr: "" });
  } finally {
    await owner.end();
    await server.stop();
  }
});
