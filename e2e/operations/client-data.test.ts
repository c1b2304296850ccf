/** Tests that an operator sees no data of a client in any log, metric, audit entry or count. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { EmbeddedPostgres } from "../../packages/server/src/runtime/embedded-postgres/embedded-postgres.ts";
import { authorized, PATH, send, sendRaw, transport } from "../support/client.ts";
import { runWithBreakGlass } from "../support/command.ts";
import { childrenOf, until } from "../support/embedded.ts";
import { issueCredentials } from "../support/server.ts";
import { get, ServerScene } from "../support/server-scene.ts";

const { serve, temporaryHome } = new ServerScene();

/** The process id of a PostgreSQL backend that serves a connection of the server. */
async function servingBackend(postmaster: number): Promise<number> {
  for (const pid of await childrenOf(postmaster)) {
    const title = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (title.startsWith("postgres: drs_app ")) return pid;
  }
  throw new Error("no connection is served");
}

describe("an operator sees", () => {
  test("no token, key, header, name or value of a client in the logs, the metrics or the audit", async () => {
    const home = await temporaryHome();
    const environment = { ...home.environment, DRS_THROTTLE_RATE: "0", DRS_LOG_LEVEL: "trace" };
    expect((await runWithBreakGlass(environment, "migrate")).code).toBe(0);
    const who = await issueCredentials(environment, "quiet");
    const server = await serve(environment);
    let markCount = 0;
    const mark = (): string => `MARK${markCount++}x`;
    const headers = (key = mark()): Record<string, string> => ({
      ...authorized(who, key),
      "User-Agent": mark(),
      Cookie: mark(),
      Referer: mark(),
      "X-Request-Id": mark(),
      traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    });
    const statusFor = async (key: string, body: string): Promise<number> =>
      (await send({ url: server.url, headers: headers(key), body })).status;
    const marked = (): Record<string, unknown> => ({
      ...transport({ ...who, sessionId: mark() }),
      sdk_version: mark(),
      app_version: mark(),
    });
    const observations = {
      ...(marked()["observations"] as Record<string, unknown>),
      client_id: mark(),
      [mark()]: mark(),
      probes: {
        os_integrity: {
          status: "success",
          data: { isEmulator: mark(), abi: mark(), list: [mark(), { [mark()]: mark() }] },
        },
        geolocation: { status: "skipped", reason: mark() },
        fonts: { status: "error", error: mark() },
        [`${mark()} odd`]: { status: "success", data: { [`${mark()} odd`]: mark() } },
      },
    };
    const validBody = JSON.stringify({ ...marked(), observations });

    const key = mark();
    expect(await statusFor(key, validBody)).toBe(201);
    expect(await statusFor(key, validBody)).toBe(200);
    expect(await statusFor(key, validBody.replace('"skipped","reason":"', '"skipped","reason":"other'))).toBe(409);
    const gzipped = await send({
      url: server.url,
      headers: { ...headers(), "Content-Encoding": "gzip" },
      body: gzipSync(validBody),
    });
    expect(gzipped.status).toBe(201);
    const refused = [
      validBody.slice(0, -5),
      `${validBody}${mark()}`,
      validBody.replace("{", `{"${mark()}":"${mark()}",`),
      validBody.replace('"platform":"android"', `"platform":"${mark()}"`),
      validBody.replace('"status":"error"', `"status":"${mark()}"`),
      validBody.replace(/"collected_at":"[^"]+"/, `"collected_at":"${mark()}"`),
      validBody.replace(/"collected_at":"\d{4}/, '"collected_at":"1999'),
      validBody.replace(`"action_id":"${who.actionId}"`, `"action_id":"${mark()}"`),
      `{"${mark()}":1,"${mark()}":1,"a":"\\ud800"}`,
      mark(),
    ];
    for (const body of refused) expect([400, 403]).toContain(await statusFor(mark(), body));
    const strange: Record<string, string>[] = [
      { Authorization: `Bearer ${mark()}` },
      { Authorization: `Basic ${mark()}` },
      { ...headers(), "Idempotency-Key": `${mark()} ${mark()}` },
      { ...headers(), "Content-Type": `text/${mark()}` },
      { ...headers(), "Content-Encoding": mark() },
    ];
    for (const sent of strange) {
      const { status } = await send({ url: server.url, headers: sent, path: `${PATH}?${mark()}`, body: validBody });
      expect([400, 401, 415]).toContain(status);
    }
    expect((await get(server.url, `/${mark()}?${mark()}`)).status).toBe(404);
    expect((await sendRaw(server.url, `GET /${mark()} HTTP/9.9\r\n${mark()}: ${mark()}\r\n\r\n`)).status).toBe(400);
    expect((await sendRaw(server.url, `GET / HTTP/1.1\r\nX: ${mark().repeat(4_000)}\r\n\r\n`)).status).toBe(431);

    // PostgreSQL rejects a row, and would quote the row in the detail of its error.
    const refusing = await EmbeddedPostgres.open({ dataDir: home.dataDir, asServer: false, onError: () => {} });
    const owner = new pg.Client(refusing.owner);
    await owner.connect();
    await owner.query("alter table drs.event add constraint picky check (app_version not like '%boom') not valid");
    const picked = validBody.replace(/"app_version":"[^"]+"/, `"app_version":"${mark()}boom"`);
    expect(await statusFor(mark(), picked)).toBe(500);
    await owner.end();
    await refusing.close();

    // PostgreSQL dies under load, and reports this in its log.
    const [postmaster = 0] = await home.postgres();
    const load = Array.from({ length: 40 }, () => statusFor(mark(), validBody).catch(() => 0));
    process.kill(await servingBackend(postmaster), "SIGSEGV");
    await Promise.all(load);
    const log = (): Promise<string> => readFile(join(home.dataDir, "postgres.log"), "utf8");
    await until(async () => (await log()).includes("was terminated by signal 11"));
    await until(async () => (await statusFor(mark(), validBody).catch(() => 0)) === 201);
    process.kill(postmaster, "SIGKILL");
    await until(async () => (await statusFor(mark(), validBody).catch(() => 0)) === 201);

    const metrics = (await get(server.adminUrl, "/metrics")).text;
    expect(await server.stop()).toBe(0);
    const audit = (await runWithBreakGlass(environment, "audit", "list", "--limit", "0", "--json")).stdout;
    const counts = async (group: string): Promise<string> =>
      (await runWithBreakGlass(environment, group, "list", "--limit", "0", "--json")).stdout;
    const places: Record<string, string> = {
      "standard error": server.stderr(),
      "the metrics": metrics,
      "PostgreSQL's log": await log(),
      "the audit": audit,
      "the counts of outcomes": await counts("outcome"),
      "the counts of rejections": await counts("rejection"),
    };
    expect(places["standard error"]).toContain('"constraint":"picky"');
    expect(places["the metrics"]).toContain('code="idempotency-conflict"');
    expect(places["PostgreSQL's log"]).toContain("violates check constraint");
    expect(places["PostgreSQL's log"]).toContain("was terminated by signal 11");
    expect(audit).toContain("text-invalid");
    expect(places["the counts of outcomes"]).toContain('"probe":"other"');
    expect(places["the counts of rejections"]).toContain('"violation":"lone-surrogate"');
    expect(markCount).toBeGreaterThan(150);
    for (const [name, text] of Object.entries(places)) {
      expect(text.match(/.*MARK\d+x.*/g), name).toBeNull();
      expect(text.includes(who.token), name).toBe(false);
      expect(text.includes("drs_xx"), name).toBe(false);
    }
  });
});
