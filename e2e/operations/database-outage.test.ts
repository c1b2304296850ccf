/**
 * Tests of a database that stops or does not answer. While it is stopped, the server answers 503 at once. In both cases
 * the server recovers without a restart.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EmbeddedPostgres } from "../../packages/server/src/runtime/embedded-postgres/embedded-postgres.ts";
import { freshKey, send } from "../support/client.ts";
import { objects, runWithBreakGlass } from "../support/command.ts";
import { childrenOf, type Home, makeHome, until } from "../support/embedded.ts";
import { PROCESSES, type ServerProcess } from "../support/server.ts";
import { expectRetryLater, get, post, ServerScene, type Stage } from "../support/server-scene.ts";

const { stageOn } = new ServerScene();

const logged = (server: ServerProcess, message: string): Record<string, unknown>[] =>
  objects(server.stderr()).filter(({ msg }) => msg === message);

describe("while the database is away", () => {
  let home: Home;
  let cluster: EmbeddedPostgres | undefined;

  const start = async (): Promise<EmbeddedPostgres> => {
    cluster = await EmbeddedPostgres.open({ dataDir: home.dataDir, asServer: false, onError: () => {} });
    return cluster;
  };

  beforeAll(async () => {
    home = await makeHome();
    await start();
  });

  afterAll(async () => {
    await cluster?.close();
    await home.remove();
  });

  async function stageHere(): Promise<Stage> {
    const socket = encodeURIComponent(cluster?.owner.host ?? "");
    const environment = {
      DRS_DATABASE_URL: `postgresql://postgres@localhost/postgres?host=${socket}`,
      DRS_KEY_DIR: home.keyDir,
      DRS_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
      DRS_THROTTLE_RATE: "0",
      DRS_DEPENDENCY_TIMEOUT: "20s",
    };
    expect((await runWithBreakGlass(environment, "migrate")).code).toBe(0);
    return stageOn(environment);
  }

  test("the server answers 503 with Retry-After at once, and is not ready but alive, until the database is back", async () => {
    const { server, who, other } = await stageHere();
    expect((await post(server, who)).status).toBe(201);
    await cluster?.close();
    await until(async () => (await get(server.adminUrl, "/readyz")).status === 503);
    expect((await get(server.adminUrl, "/readyz")).text).toMatch(
      /^database: can't be reached \(since .+Z\)\n(?:database of the admin API: can't be reached \(since .+Z\)\n)?$/,
    );

    const key = freshKey();
    const away = Date.now();
    for (let n = 0; n < 100; n++) {
      // One account's token is cached, and the other account's token would have to be looked up.
      expectRetryLater(await post(server, n % 2 ? who : other, key), 503, "unavailable");
    }
    expect(Date.now() - away).toBeLessThan(5_000);
    expect((await get(server.adminUrl, "/livez")).status).toBe(200);

    await start();
    await until(async () => (await post(server, who, key)).status < 300);
    if (PROCESSES > 1) await until(async () => (await get(server.adminUrl, "/readyz")).status === 200);
    expect(await get(server.adminUrl, "/readyz")).toMatchObject({ status: 200 });
    expect((await post(server, other, key)).status).toBe(201);
    await until(() => logged(server, "dependency is up").length >= logged(server, "dependency is down").length);
    const [down, up] = [logged(server, "dependency is down"), logged(server, "dependency is up")];
    const names = [...new Set(down.map(({ dependency }) => dependency))];
    expect(names).toContain("database");
    expect(down.length, "each dependency is down once in each process").toBe(
      PROCESSES > 1 ? down.length : names.length,
    );
    for (const { downFor } of up) expect(downFor).toMatch(/^\d+ (milli)?seconds?$/);
    // The loss of idle connections may be the first sign of the outage.
    const errors = objects(server.stderr()).filter(({ level }) => Number(level) >= 50);
    expect(errors.filter(({ operation }) => operation !== "keep database connection")).toEqual([]);
    expect(errors.length).toBeLessThanOrEqual(PROCESSES);
    expect(await server.stop()).toBe(0);
  });

  test("the server keeps its audit entries in memory, and writes them if the database comes back during the shutdown", async () => {
    const { environment, server } = await stageHere();
    expect((await send({ url: server.url })).status).toBe(401);
    await cluster?.close();
    const ended = server.stop();
    await until(() => server.stderr().includes('"draining"'));
    await start();
    expect(await ended).toBe(0);
    const { stdout } = await runWithBreakGlass(environment, "audit", "list", "--json");
    expect(stdout).toContain('"outcome":"credentials-missing"');
  });

  test("or hangs, the server is not ready, and the waiting requests get their answers", async () => {
    const { server, who } = await stageHere();
    expect((await post(server, who)).status).toBe(201);
    const [postmaster = 0] = await home.postgres();
    const all = [postmaster, ...(await childrenOf(postmaster))];
    for (const pid of all) process.kill(pid, "SIGSTOP");
    try {
      const waiting = post(server, who);
      waiting.catch(() => {});
      expect(await get(server.adminUrl, "/readyz")).toMatchObject({
        status: 503,
        text: expect.stringMatching(/^database: does not answer/),
      });
      for (const pid of all) process.kill(pid, "SIGCONT");
      expect((await waiting).status).toBe(201);
      await until(async () => (await get(server.adminUrl, "/readyz")).status === 200);
    } finally {
      // Some processes of `all` may have ended, because the server ends the backends of connections that it abandoned.
      for (const pid of await home.postgres()) process.kill(pid, "SIGCONT");
    }
    expect(await server.stop()).toBe(0);
  });
});
