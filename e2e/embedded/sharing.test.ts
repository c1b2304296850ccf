/** Tests of the embedded PostgreSQL that a server and commands share. The last of these processes stops it. */
import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EmbeddedPostgres } from "../../packages/server/src/runtime/embedded-postgres/embedded-postgres.ts";
import { authorized, send, transport } from "../support/client.ts";
import { type Home, makeHome, until } from "../support/embedded.ts";
import {
  EmbeddedScene,
  expectRefused,
  expectStopped,
  issueToken,
  lines,
  listTokens,
  migrate,
  refusedServe,
} from "../support/embedded-scene.ts";
import { makeCredentials, openTestSystem } from "../support/parties.ts";
import { type Credentials, issueCredentials, runDrs } from "../support/server.ts";

async function sessionOf(pid = 0): Promise<string | undefined> {
  const [, fields = ""] = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ");
  return fields.split(" ")[3];
}

const { home, serve } = new EmbeddedScene();

describe("an embedded PostgreSQL that the server and commands share", () => {
  let place: Home;
  let who: Credentials;

  beforeAll(async () => {
    place = await makeHome();
    expect((await migrate(place)).code).toBe(0);
    who = await issueCredentials(place.environment);
  });

  afterAll(() => place.remove());

  test("serves commands before, during and after the server's run, and is stopped by the process that uses it last", async () => {
    await expectStopped(place);

    const server = await serve(place);
    const running = await place.postgres();
    expect(running).toHaveLength(1);
    // Ctrl-C signals a process group of the terminal's session. PostgreSQL must outlive the server's shutdown, so it is
    // in another session.
    expect(await sessionOf(running[0])).not.toBe(await sessionOf(server.process.pid));
    expect((await issueToken(place)).code).toBe(0);
    expect(await place.postgres()).toEqual(running);
    const answer = await send({ url: server.url, headers: authorized(who), body: JSON.stringify(transport(who)) });
    expect(answer.status, answer.text).toBe(201);

    expect(await server.stop()).toBe(0);
    await expectStopped(place);
    expect(lines(await listTokens(place))).toHaveLength(3);
    const { stdout } = await runDrs(place.environment, ["event", "list", "--json"]);
    expect(JSON.parse(stdout.toString())).toMatchObject({ event_id: answer.json["event_id"] });
    await expectStopped(place);
  });

  test("keeps running when the server stops while a command works", async () => {
    const server = await serve(place);
    const system = await openTestSystem(place.environment);
    const running = await place.postgres();
    expect(await server.stop()).toBe(0);
    expect(await place.postgres()).toEqual(running);
    expect((await makeCredentials(system, "late")).account).toBe("late");
    await system.close();
    await expectStopped(place);
  });

  test("rejects a second server, and the first one continues", async () => {
    const server = await serve(place);
    expectRefused(await refusedServe(place), `another server runs on the data directory ${place.dataDir}`);
    expect((await send({ url: server.adminUrl, method: "GET", path: "/readyz" })).status).toBe(200);
    expect(server.stderr()).not.toContain('"error"');
    expect(await server.stop()).toBe(0);
    const next = await serve(place);
    expect(await next.stop()).toBe(0);
  });

  test("is adopted by the next server after the first one was killed", async () => {
    const first = await serve(place);
    const running = await place.postgres();
    const body = JSON.stringify(transport(who));
    const headers = authorized(who);
    expect((await send({ url: first.url, headers, body })).status).toBe(201);
    await first.kill();
    expect(await place.postgres()).toEqual(running);

    const second = await serve(place);
    expect(await place.postgres()).toEqual(running);
    expect((await send({ url: second.url, headers, body })).status).toBe(200);
    await second.kill();
    expect(await place.postgres()).toEqual(running);

    expect((await listTokens(place)).code).toBe(0);
    await expectStopped(place);
  });

  test("is started again by the next server after both were killed", async () => {
    const server = await serve(place);
    const [pid = 0] = await place.postgres();
    await server.kill();
    process.kill(pid, "SIGKILL");
    await until(async () => (await place.postgres()).length === 0);
    expect(await listTokens(place)).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await runDrs(place.environment, ["event", "list", "--json"]);
    expect(stdout.toString()).not.toBe("");
  });

  test("is created once by commands that start together, and all of them work", async () => {
    const place = await home();
    const accounts = ["a", "b", "c"];
    const made = await Promise.all(accounts.map(() => migrate(place)));
    expect(made.map(({ code, stderr }) => ({ code, stderr }))).toEqual(accounts.map(() => ({ code: 0, stderr: "" })));
    const results = await Promise.all(accounts.map((account) => issueToken(place, account)));
    expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      accounts.map(() => ({ code: 0, stderr: "" })),
    );
    const listed = lines(await listTokens(place)).map((line) => (JSON.parse(line) as { account: string }).account);
    expect(listed.toSorted()).toEqual(accounts);
    expect((await readdir(place.dataDir)).toSorted()).toEqual(["postgres", "postgres.log", "socket"]);
    await expectStopped(place);
  });

  test("keeps serving while some processes stop using it and others start to use it", async () => {
    const place = await home();
    const errors: unknown[] = [];
    const options = { dataDir: place.dataDir, asServer: false, onError: (error: unknown) => errors.push(error) };
    let users = [await EmbeddedPostgres.open(options), await EmbeddedPostgres.open(options)];
    for (let round = 0; round < 15; round++) {
      const leaving = users.map((user) => user.close());
      users = await Promise.all([EmbeddedPostgres.open(options), EmbeddedPostgres.open(options)]);
      await Promise.all(leaving);
    }
    await Promise.all(users.map((user) => user.close()));
    expect(errors).toEqual([]);
    await expectStopped(place);
  });

  test("serves one of two servers that start together, and the other one reports why it can't start", async () => {
    const place = await home();
    const command = migrate(place);
    const started = await Promise.allSettled([serve(place), serve(place)]);
    const running = started.filter((result) => result.status === "fulfilled").map(({ value }) => value);
    const refused = started.filter((result) => result.status === "rejected").map(({ reason }) => String(reason));
    expect(running, refused.join("\n")).toHaveLength(1);
    expect(refused).toEqual([expect.stringContaining("another server runs on the data directory")]);
    expect(await place.postgres()).toHaveLength(1);
    expect(await command).toMatchObject({ code: 0, stderr: "" });
    expect(await running[0]?.stop()).toBe(0);
    await expectStopped(place);
  });
});
