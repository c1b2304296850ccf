/**
 * Tests of dependencies that do not answer, reset their connections or answer late: during ingestion, a retention pass,
 * an erasure, the start and the shutdown.
 */
import { join } from "node:path";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type AnsweringServer,
  json,
  startAnsweringServer,
} from "../packages/server/src/ingest/sessions/answering-server.fixture.ts";
import { authorized, type Reply, send, transport } from "./support/client.ts";
import { runWithBreakGlass, type Printed } from "./support/command.ts";
import { connectAsOwner, sharedDatabase, SHARED_SOCKET, type TestDatabase } from "./support/database.ts";
import { childrenOf, makeHome, until } from "./support/embedded.ts";
import { type Credentials, issueCredentials, runDrs, type ServerProcess, startServer } from "./support/server.ts";
import { startTcpProxy, type TcpProxy, type Trouble } from "./support/tcp-proxy.ts";

/** The deadline of a call to a dependency; long enough for a working dependency on a busy machine. */
const TIMEOUT_MS = 700;
const DRAIN_MS = 3_000;
const TROUBLES: readonly Trouble[] = ["silent", "silent on established connections", "reset", "delayed"];

type DependencyName = "database" | "key_store" | "erasure_journal" | "introspection" | "jwks";

const TITLES: Readonly<Record<DependencyName, string>> = {
  database: "database",
  key_store: "key store",
  erasure_journal: "erasure journal",
  introspection: "introspection",
  jwks: "JWKS",
};

/** The environment variables with the URLs of the dependencies that are databases. */
const VARIABLES = {
  database: "DRS_DATABASE_URL",
  key_store: "DRS_KEY_DATABASE_URL",
  erasure_journal: "DRS_ERASURE_JOURNAL_DATABASE_URL",
} as const;

const READ_BY_A_PASS = {
  database: "event_partition",
  key_store: "drs_keys.mark",
  erasure_journal: "drs_journal.entry",
} as const;

let database: TestDatabase;
let answeringServer: AnsweringServer;

beforeAll(async () => {
  database = await sharedDatabase();
  answeringServer = await startAnsweringServer();
});

afterAll(async () => {
  await answeringServer?.close();
  await database?.close();
});

interface Stage {
  /** The environment of commands and servers that connect to the dependency through the proxy. */
  readonly environment: Record<string, string>;
  readonly proxy: TcpProxy;
  readonly owner: pg.Client;
  /** A connection to the database of the events. It holds locks for which commands and servers wait. */
  readonly blocker: pg.Client;
  /** A connection of the test to the dependency, or to the database of the events if the dependency is no database. */
  readonly dependencyConnection: pg.Client;
  readonly who: Credentials;
  readonly close: () => Promise<void>;
}

/** An installation on three databases. One of its dependencies is behind a proxy. */
async function stage(name: DependencyName): Promise<Stage> {
  const isHttp = name === "introspection" || name === "jwks";
  const [events, keys, journal] = await Promise.all([
    database.environment(),
    database.environment(),
    database.environment(),
  ]);
  const { DRS_KEY_DIR: _, DRS_DATABASE_URL: url = "", ...rest } = events;
  const direct: Record<string, string> = {
    ...rest,
    DRS_DATABASE_URL: url,
    DRS_KEY_DATABASE_URL: keys["DRS_DATABASE_URL"] ?? "",
    DRS_ERASURE_JOURNAL_DATABASE_URL: journal["DRS_DATABASE_URL"] ?? "",
    DRS_THROTTLE_RATE: "0",
    DRS_DEPENDENCY_TIMEOUT: `${TIMEOUT_MS}ms`,
    DRS_DRAIN_TIMEOUT: `${DRAIN_MS}ms`,
    DRS_RETENTION_INTERVAL: "1s",
  };
  const postgres = join(process.env[SHARED_SOCKET] ?? "", ".s.PGSQL.5432");
  const proxy = await startTcpProxy(isHttp ? Number(new URL(answeringServer.url).port) : postgres);
  const who = await issueCredentials(direct, `who-${name}`);
  const itself = direct[VARIABLES[isHttp ? "database" : name]] ?? url;
  const [owner, blocker, own] = await Promise.all(
    [url, url, itself].map((at) => connectAsOwner({ DRS_DATABASE_URL: at })),
  );
  if (!owner || !blocker || !own) throw new Error("no connection");
  return {
    environment: { ...direct, ...throughProxy(name, direct, proxy.port) },
    proxy,
    owner,
    blocker,
    dependencyConnection: own,
    who,
    close: async () => {
      await Promise.all([owner.end(), blocker.end(), own.end(), proxy.close()]);
    },
  };
}

function throughProxy(
  name: DependencyName,
  direct: Readonly<Record<string, string>>,
  port: number,
): Record<string, string> {
  switch (name) {
    case "database":
    case "key_store":
    case "erasure_journal": {
      const { pathname } = new URL(direct[VARIABLES[name]] ?? "");
      return { [VARIABLES[name]]: `postgresql://postgres@127.0.0.1:${port}${pathname}?sslmode=disable` };
    }
    case "introspection":
      return { DRS_INTROSPECTION_URL: `http://127.0.0.1:${port}/` };
    case "jwks":
      return {
        DRS_JWT_JWKS_URL: `http://127.0.0.1:${port}/`,
        DRS_JWT_ISSUER: "issuer",
        DRS_JWT_AUDIENCE: "audience",
      };
  }
}

const post = (server: ServerProcess, who: Credentials): Promise<Reply> =>
  send({ url: server.url, headers: authorized(who), body: JSON.stringify(transport(who)) });

const get = (server: ServerProcess, path: string): Promise<Reply> =>
  send({ url: server.adminUrl, method: "GET", path });

async function metric(server: ServerProcess, name: string): Promise<number> {
  const { text } = await get(server, "/metrics");
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.split(" ")[1]);
}

const upMetric = (server: ServerProcess, name: DependencyName): Promise<number> =>
  metric(server, `drs_dependency_up{dependency="${name}"}`);

/** Numbers the tokens, so that each token is new to the server, which must then look it up. */
let tokenCount = 0;
const fresh = (name: DependencyName, who: Credentials): Credentials => {
  if (name === "introspection") return { ...who, token: `foreign-${tokenCount++}` };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return name === "jwks"
    ? { ...who, token: `${part({ alg: "RS256", kid: `k${tokenCount++}` })}.${part({})}.AAAA` }
    : who;
};

describe.concurrent.each(["database", "key_store", "erasure_journal", "introspection"] as const)(
  "the dependency %s",
  (name) => {
    test("is named at each failure during ingestion, requests are answered in time, and the server recovers by itself", async ({
      expect,
    }) => {
      const { environment, proxy, who, close } = await stage(name);
      answeringServer.answer(json({ active: true, sub: `who-introspection` }));
      const server = await startServer(environment);
      try {
        const required = name === "database" || name === "key_store";
        await until(async () => (await post(server, fresh(name, who))).status === 201);
        for (const trouble of TROUBLES) {
          proxy.fail(trouble);
          if (trouble !== "silent on established connections") {
            await until(async () => {
              // Both requests are sent before the first answer, so that they are processed at the same time.
              const replies = await Promise.all([post(server, fresh(name, who)), post(server, fresh(name, who))]);
              for (const { status, headers } of replies) {
                expect([201, 503], trouble).toContain(status);
                if (status === 503) expect(headers["retry-after"]).toMatch(/^[1-9]/);
              }
              const expected = name === "erasure_journal" ? 201 : 503;
              return replies.every(({ status }) => status === expected) && (await upMetric(server, name)) === 0;
            });
            const { status, text } = await get(server, "/readyz");
            expect([status, text], trouble).toEqual([
              required ? 503 : 200,
              expect.stringMatching(new RegExp(`^${TITLES[name]}: (does not answer|can't be reached) \\(since`, "m")),
            ]);
          }
          expect(await metric(server, "drs_requests_in_flight"), trouble).toBe(0);
          proxy.heal();
          await until(async () => (await post(server, fresh(name, who))).status === 201);
          // A readiness check that began before the recovery can end after it, and then reports the failure once more.
          await until(
            async () => (await get(server, "/readyz")).text === "ok\n" && (await upMetric(server, name)) === 1,
          );
        }
        expect(server.stderr()).toMatch(new RegExp(`"dependency":"${name}".*"dependency is down"`));

        proxy.fail("silent");
        const inWork = Promise.all([post(server, fresh(name, who)), post(server, fresh(name, who))]);
        await new Promise((resolve) => setTimeout(resolve, 50));
        const asked = Date.now();
        expect(await server.stop()).toBe(0);
        expect(Date.now() - asked).toBeLessThan(DRAIN_MS + 1_500);
        for (const { status } of await inWork) expect([201, 503]).toContain(status);
        expect(server.stderr().trimEnd().split("\n").at(-1)).toContain('"stopped"');
      } finally {
        await server.kill();
        await close();
      }
    });
  },
);

describe.concurrent.each(["database", "key_store", "erasure_journal"] as const)("a silent %s", (name) => {
  test("ends a start with a message", async ({ expect }) => {
    const { environment, proxy, close } = await stage(name);
    for (const trouble of ["silent", "delayed"] as const) {
      proxy.fail(trouble);
      const { code, stderr } = await runDrs({ ...environment, DRS_PORT: "0", DRS_ADMIN_PORT: "0" }, ["serve"]);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining(`the ${TITLES[name]} gave no answer within ${TIMEOUT_MS} ms`),
      ]);
    }
    await close();
  });

  test("ends an erasure with a message, and the erasure is finished later", async ({ expect }) => {
    const { environment, proxy, owner, blocker, who, close } = await stage(name);
    const erase = (): Promise<Printed> =>
      runWithBreakGlass(environment, "erase", "run", "--account", who.account, "--yes", "--reason", "asked for it");
    await blocker.query("begin");
    await blocker.query("select lock_holds()");
    const erasing = erase();
    await until(async () => (await waiting(owner)) === 1);
    proxy.fail("silent on established connections");
    await blocker.query("commit");
    const { code, stderr } = await erasing;
    expect([code, stderr]).toEqual([1, expect.stringContaining(`the ${TITLES[name]} gave no answer within`)]);
    // The journal may contain the erasure although the database lacks it.
    expect((await runWithBreakGlass(environment, "erase", "replay")).code).toBe(0);
    const again = await erase();
    expect([again.code, again.stderr], again.stdout).toEqual([0, expect.any(String)]);
    const { rows } = await owner.query(
      "select count(*)::int as erasures, count(finished_at)::int as finished from erasure",
    );
    expect(rows).toEqual([{ erasures: 1, finished: 1 }]);
    await close();
  });

  test("makes a retention pass fail, and the next pass does the work of the failed one", async () => {
    const { environment, proxy, owner, dependencyConnection: own, close } = await stage(name);
    // Errors of an outage that is known are logged at this level only.
    const server = await startServer({ ...environment, DRS_LOG_LEVEL: "debug" });
    const lastPass = (): Promise<number> => metric(server, "drs_retention_last_pass_timestamp_seconds");
    const gaveUp = (): number => server.stderr().split(`the ${TITLES[name]} gave no answer within`).length;
    try {
      await own.query("begin");
      await own.query(`lock table ${READ_BY_A_PASS[name]} in access exclusive mode`);
      await until(async () => (await waiting(owner, own)) > 0);
      const before = gaveUp();
      // The pass waits for a lock in this dependency, which from now on never answers.
      proxy.fail("silent on established connections");
      await until(() => gaveUp() > before);
      await own.query("commit");
      const since = Date.now() / 1000;
      await until(async () => (await lastPass()) > since, 10_000);
      // The maintenance lock is free only when no backend of a pass is left.
      await until(async () => {
        const { rows } = await owner.query<{ held: boolean }>("select pg_try_advisory_xact_lock(7236518) as held");
        return rows[0]?.held === true;
      });
    } finally {
      await server.kill();
      await close();
    }
  });
});

test("if JWKS can't be reached, requests with unknown tokens get 503 in time, and the server stays ready", async () => {
  const { environment, proxy, who, close } = await stage("jwks");
  const server = await startServer(environment);
  try {
    for (const trouble of ["silent", "reset", "delayed"] as const) {
      proxy.fail(trouble);
      const replies = await Promise.all([post(server, fresh("jwks", who)), post(server, fresh("jwks", who))]);
      for (const { status, headers } of replies) {
        expect([status, headers["retry-after"]], trouble).toEqual([503, "1"]);
      }
      const { status, text } = await get(server, "/readyz");
      expect([status, text], trouble).toEqual([200, expect.stringMatching(/^ok\nJWKS: /)]);
      expect((await post(server, who)).status).toBe(201);
      expect(await upMetric(server, "jwks")).toBe(0);
    }
    answeringServer.answer(json({ keys: [] }));
    proxy.heal();
    await until(async () => (await post(server, fresh("jwks", who))).status === 401);
    expect(await upMetric(server, "jwks")).toBe(1);
  } finally {
    await server.stop();
    await close();
  }
});

/** Continues a process, unless it has ended. */
function resume(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

test("an embedded PostgreSQL that hangs does not keep the server from ending", async () => {
  const home = await makeHome();
  const server = await startServer({ ...home.environment, DRS_DEPENDENCY_TIMEOUT: "500ms", DRS_DRAIN_TIMEOUT: "1s" });
  const [postmaster = 0] = await home.postgres();
  const all = [postmaster, ...(await childrenOf(postmaster))];
  try {
    for (const pid of all) process.kill(pid, "SIGSTOP");
    const asked = Date.now();
    expect(await server.stop()).toBe(0);
    expect(Date.now() - asked).toBeLessThan(7_000);
    expect(server.stderr().trimEnd().split("\n").at(-1)).toContain('"stopped"');
  } finally {
    for (const pid of all) resume(pid);
    await home.remove();
  }
});

/** Counts, through the first client, the sessions that wait for a lock in the database of the second client. */
async function waiting(observer: pg.Client, { database: name } = observer): Promise<number> {
  const { rows } = await observer.query<{ waiting: number }>(
    "select count(*)::int as waiting from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'",
    [name],
  );
  return rows[0]?.waiting ?? 0;
}
