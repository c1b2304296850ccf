/** Tests of what a server prints when it starts, and of what each of its two listeners serves. */
import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { createAdminClient, ROLE_NAMES } from "@device-risk-signals/admin-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PATH, send } from "../support/client.ts";
import { runWithBreakGlass, objects } from "../support/command.ts";
import { type Home, makeHome, until } from "../support/embedded.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { get, ServerScene } from "../support/server-scene.ts";

const { serve, stage, temporaryHome } = new ServerScene();

describe("the greeting", () => {
  const shell = (script: string): Promise<string> =>
    new Promise((resolve) => execFile("bash", ["-c", script], (_, stdout) => resolve(stdout)));

  let home: Home;
  let server: ServerProcess;

  beforeAll(async () => {
    home = await makeHome();
    server = await startServer(home.environment);
    await until(() => server.stdout().includes("\ncurl "));
  });

  afterAll(async () => {
    await server.stop();
    await home.remove();
  });

  const tokenOf = (text: string): string => /drs_[\w-]{43}/.exec(text)?.[0] ?? "";

  test("has the URL, a token, an action and a curl command", async () => {
    const lines = server.stdout().trimEnd().split("\n");
    expect(lines[0]).toBe(`Device Risk Signals is ready: ${server.url}${PATH}`);
    expect(lines[1]).toMatch(/^Development token \(until \S+\): drs_[\w-]{43}$/);
    expect(lines[2]).toMatch(/^Registered action: act_\S+ \(try\)$/);
    expect(lines.at(-1)).toMatch(/^curl .* -d '\{.*\}'$/);
    const rows = objects((await runWithBreakGlass(home.environment, "token", "list", "--json")).stdout);
    expect(rows).toMatchObject([{ account: "development" }]);
  });

  test("has a curl command that gets 201, then 200, and 409 after the value of a probe was changed", async ({
    skip,
  }) => {
    if (!(await shell("curl --version"))) skip("no curl here");
    const line = server.stdout().trimEnd().split("\n").at(-1) ?? "";
    const [first, second] = [await shell(line), await shell(line)];
    expect(first).toMatch(/^HTTP\/1\.1 201 .*"created":true\}$/s);
    expect(second).toMatch(/^HTTP\/1\.1 200 .*"created":false\}$/s);
    expect(/"event_id":"[^"]+"/.exec(second)?.[0]).toBe(/"event_id":"[^"]+"/.exec(first)?.[0]);
    const changed = line.replace('"fontsDigest":"', '"fontsDigest":"x');
    expect(changed).not.toBe(line);
    expect(await shell(changed)).toMatch(/^HTTP\/1\.1 409 .*idempotency-conflict/s);
  });

  test("has an admin token in a file that only its owner can read, and not in the log", async () => {
    const [, file = ""] = /^Admin token \(all roles, until \S+\): in (\S+)$/m.exec(server.stdout()) ?? [];
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const token = (await readFile(file, "utf8")).trim();
    expect(server.stdout() + server.stderr()).not.toContain(token);
    const admin = createAdminClient({ url: server.adminUrl, token });
    expect((await admin.call("readSession", {})).roles).toEqual([...ROLE_NAMES]);
    const [event] = (await admin.call("listEvents", { account: "development" })).events;
    const { case_id } = await admin.call("openCase", {
      account: "development",
      category: "debugging",
      reason: "first look at it",
    });
    const read = { event_id: event?.event_id ?? "", case_id };
    expect(JSON.stringify(await admin.call("readObservations", read))).toContain("fontsDigest");
    const { entries } = await admin.call("listAudit", { event_id: read.event_id });
    expect(entries.map(({ operation }) => operation)).toContain("event.read_observations");
  });

  test("shows the token only on standard output", async () => {
    const token = tokenOf(server.stdout());
    expect(token).not.toBe("");
    await send({ url: server.url, headers: { Authorization: `Bearer ${token}` } });
    expect(server.stderr()).toContain('"msg":"ready"');
    expect(server.stderr()).not.toContain("drs_");
    const audit = (await runWithBreakGlass(home.environment, "audit", "list", "--json")).stdout;
    expect(audit).toContain("token.issue");
    for (const text of [audit, (await get(server.adminUrl, "/metrics")).text]) expect(text).not.toContain(token);
  });

  test("is preceded by a line of the log that says how long audit entries are kept", () => {
    expect(server.stderr()).toContain("audit entries that are older than 730 days (DRS_AUDIT_RETENTION)");
  });

  test("has no token if the database is external", async () => {
    const { server, environment } = await stage();
    expect(await server.stop()).toBe(0);
    expect(server.stdout()).toBe(`Device Risk Signals is ready: ${server.url}${PATH}\n`);
    const { stdout } = await runWithBreakGlass(environment, "token", "list", "--account", "development", "--json");
    expect(stdout).toBe("");
  });

  test("has no token if the server listens beyond loopback", async () => {
    const other = await temporaryHome();
    const beyond = await serve({
      ...other.environment,
      DRS_HOST: "0.0.0.0",
      DRS_TLS_TERMINATED_BY_PROXY: "true",
    });
    expect(await beyond.stop()).toBe(0);
    const { stdout } = await runWithBreakGlass(other.environment, "token", "list", "--json");
    expect(beyond.stdout()).toMatch(/^Device Risk Signals is ready: http:\/\/0\.0\.0\.0:\d+\/\S+\n$/);
    expect(stdout).toBe("");
    expect(beyond.adminUrl).toMatch(/^http:\/\/127\.0\.0\.1:/);
  });

  test("names the admin listener, and no other listener serves health and metrics", async () => {
    expect((await send({ url: server.url })).status).toBe(401);
    for (const path of ["/livez", "/readyz"]) {
      expect(await get(server.adminUrl, path)).toMatchObject({ status: 200, text: "ok\n" });
    }
    const metrics = await get(server.adminUrl, "/metrics");
    expect(metrics.status).toBe(200);
    expect(metrics.headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(metrics.text).toMatch(/^drs_requests_total\{status="401",code="[a-z-]+"\} \d+$/m);
    expect(metrics.text).toMatch(/^process_resident_memory_bytes \d+$/m);
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      expect(await get(server.url, path)).toMatchObject({ status: 404, json: { status: 404 } });
    }
    for (const path of [PATH, "/api/v1/openapi.json", "/"]) {
      expect((await send({ url: server.adminUrl, path, body: "{}" })).status).toBe(404);
    }
    expect((await get(server.url, "/api/v1/openapi.json")).json).toHaveProperty("openapi");
  });
});
