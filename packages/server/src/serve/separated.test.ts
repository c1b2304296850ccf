/** Tests of three processes of one installation, each with only the login of its surface. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdminClient, createAdminClient } from "@device-risk-signals/admin-api";
import { contextWith, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { AWAITED_LOCKS } from "../../../../e2e/support/database.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import { authorized, freshKey, type Reply, send, transport } from "../../../../e2e/support/client.ts";
import { makeCredentials } from "../../../../e2e/support/parties.ts";
import type { Credentials } from "../../../../e2e/support/server.ts";
import { clockOf } from "../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import type { ServedSurface } from "../runtime/served-surfaces.ts";
import { openSystem, type System } from "../runtime/system.ts";
import { AuditSigner } from "../audit/audit-signer.ts";
import { writeAudit } from "../audit/audit.ts";
import { type Surface, SURFACES } from "../store/audit-record/record.ts";
import { runProgram } from "../cli/run-program.ts";
import { readConfig } from "../base/config/config.ts";
import { issueAdminToken } from "../access/identity/admin-tokens.ts";
import { installationSecret } from "../lifecycle/recovery/installation.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import { migrate } from "../store/postgres/migrate.ts";
import { type Service, startService } from "./service.ts";

const NO_EVENT = "019a0000-0000-7000-8000-000000000000";
const HOUR_MS = 3_600_000;
const folder = useFolder();
const scene = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: `${folder()}/journal` }));
const suffix = randomBytes(4).toString("hex");
const KEYS = new Map(SURFACES.map((surface) => [surface, randomBytes(32).toString("base64")]));
/** Writes a file with the MAC keys of these surfaces. Each process has its own file. */
async function keyFile(...surfaces: readonly Surface[]): Promise<Readonly<Record<string, string>>> {
  const path = `${folder()}/keys-${surfaces.join("-")}`;
  await writeFile(path, surfaces.map((surface) => `${surface} ${KEYS.get(surface)}\n`).join(""));
  return { DRS_AUDIT_KEY_FILE: path };
}
const closing: (() => Promise<unknown>)[] = [];

interface Process {
  readonly system: System;
  readonly service: Service;
  readonly errors: unknown[];
}

async function start(
  surfaces: readonly ServedSurface[],
  login: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Process> {
  const url = (scene.environment["DRS_DATABASE_URL"] ?? "").replace("postgres@", `${login}@`);
  const environment = { ...scene.environment, DRS_DATABASE_URL: url, DRS_PORT: "0", DRS_ADMIN_PORT: "0", ...settings };
  const result = readConfig(environment, process.cwd());
  if (!result.ok) throw new Error(result.problems.join());
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const clock = clockOf(environment);
  const system = await openSystem(result.config, { surfaces, clock, asServer: true, environment, onError });
  closing.push(() => system.close());
  const service = await startService(system, pino({ level: "error" }, { write: onError }));
  closing.push(() => service.stop());
  return { system, service, errors };
}

let ingest: Process;
let admin: Process;
let worker: Process;
let who: Credentials;
let token: string;
let client: AdminClient;

beforeAll(async () => {
  const [ingestLogin, adminLogin] = [`ingest_${suffix}`, `admin_${suffix}`];
  await scene.owner.query(`create role ${ingestLogin} login; create role ${adminLogin} login`);
  closing.push(() => scene.owner.query(`drop role ${ingestLogin}; drop role ${adminLogin}`));
  await migrate({ connectionString: scene.environment["DRS_DATABASE_URL"] ?? "" }, [
    { login: ingestLogin, role: "drs_ingest" },
    { login: adminLogin, role: "drs_admin" },
  ]);
  // No pass runs at an interval, because it would exclude the pass that a test calls, and would run while a test
  // replaces rows of the journal.
  const keysOfAll = await keyFile(...SURFACES);
  worker = await start(["worker"], "postgres", { DRS_RETENTION_INTERVAL: "24h", ...keysOfAll });
  ingest = await start(["ingest"], ingestLogin, await keyFile("ingest"));
  const workerUrl = worker.service.adminUrl;
  admin = await start(["admin"], adminLogin, { DRS_WORKER_URL: workerUrl, ...(await keyFile("admin")) });
  who = await makeCredentials(scene.system, "customer-1");
  ({ token } = await inOwnerTransaction(scene.system.administration, (owner) =>
    issueAdminToken(owner, scene.system.clock, {
      person: "ann",
      roles: ["analyst", "investigator", "privacy", "operator", "auditor"],
      ttlMs: HOUR_MS,
    }),
  ));
  client = createAdminClient({ url: admin.service.adminUrl, token });
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

const get = (url: string, path: string): Promise<Reply> => send({ url, method: "GET", path });
const body = (): string => JSON.stringify(transport(who, new Date(scene.system.clock.now())));
const post = (text: string, key: string): Promise<Reply> =>
  send({ url: ingest.service.url ?? "", headers: authorized(who, key), body: text });

describe("a process of", () => {
  it("ingestion alone stores events, answers replays and conflicts, and serves no admin API", async () => {
    const [key, text] = [freshKey(), body()];
    expect((await post(text, key)).status).toBe(201);
    expect((await post(text, key)).status).toBe(200);
    expect((await post(` ${text}`, key)).status, "the same in canonical form").toBe(200);
    expect((await post(text.replace('"sensorCount":23', '"sensorCount":24'), key)).status).toBe(409);
    expect((await post("{", freshKey())).status).toBe(400);
    const { adminUrl } = ingest.service;
    expect(await get(adminUrl, "/readyz")).toMatchObject({ status: 200, text: "ok\nserves: ingest\n" });
    expect((await get(adminUrl, "/admin/v1/session")).status).toBe(404);
    expect((await get(adminUrl, "/metrics")).text).toContain("drs_requests_total");
    expect(ingest.system.config.database.url).toContain("ingest_");
  });

  it("the admin API alone lists and opens events, and receives no events", async () => {
    expect((await post(body().replace('"fonts"', '"unknown_probe"'), freshKey())).status).toBe(201);
    const { events } = await client.call("listEvents", { account: who.account });
    const [event] = events;
    const opened = { event_id: event?.event_id ?? "", category: "dispute" as const, reason: "dispute 4711" };
    const { observations } = await client.call("readObservations", opened);
    expect(observations).toMatchObject({ event_type: "device_intel_collection" });
    const { findings } = await client.call("readHealth", {});
    expect(findings.find(({ what }) => what === "separation")?.detail).toContain(`the admin API has admin_${suffix}`);
    await client.call("readRetention", {});
    await client.call("listKeys", {});
    for (const list of [
      "listDrift",
      "readLayers",
      "listFeatureDecisions",
      "listBackfills",
      "listAttestations",
      "listWork",
      "listBackups",
    ] as const)
      await client.call(list, {});
    expect(await client.call("readFeatures", { account: who.account })).toMatchObject({ events: expect.any(Array) });
    expect(admin.service.url).toBeUndefined();
    expect(await get(admin.service.adminUrl, "/readyz")).toMatchObject({ status: 200, text: "ok\nserves: admin\n" });
  });

  it("the admin API alone forwards what needs a worker: a retention pass, an erasure, a hold", async () => {
    const remote = { DRS_ADMIN_URL: admin.service.adminUrl, DRS_ADMIN_TOKEN: token };
    const hold = { account: who.account, reason: "dispute 4711", approver: "J. Doe", review_on: "2999-01-31" };
    const [run, held, erased] = await Promise.all([
      runWithBreakGlass(remote, "retention", "run", "--json"),
      client.call("addHold", hold),
      client.call("runErasure", { event_id: NO_EVENT, reason: "article 17" }).catch((error: unknown) => error),
    ]);
    expect({ ...run, stdout: JSON.parse(run.stdout) }).toMatchObject({ code: 0, stderr: "", stdout: { rows: 0 } });
    const { hold_id } = held;
    const at = new Date().toISOString();
    expect(await client.call("recordBackup", { store: "keys", at })).toMatchObject({ taken_at: at, is_new: true });
    expect(await client.call("liftHold", { hold_id, reason: "dispute 4711" })).toMatchObject({ hold_id });
    expect(erased).toMatchObject({ status: 404, problem: { code: "not-found" } });
    const { entries } = await client.call("listAudit", { person: "ann" });
    const outcomes = entries.map(({ operation, outcome }) => `${operation} ${outcome}`);
    expect(outcomes).toEqual(
      expect.arrayContaining(["call.end failed", "hold.add done", "hold.lift done", "retention.run done"]),
    );
  });

  it("a worker serves what is forwarded to it, checks it itself, and serves nothing else", async () => {
    const direct = createAdminClient({ url: worker.service.adminUrl, token });
    await expect(direct.call("listEvents", {})).rejects.toMatchObject({ status: 404 });
    expect(await direct.call("runRetention", {})).toMatchObject({ rows: 0 });
    const wrong = createAdminClient({ url: worker.service.adminUrl, token: `${token.slice(0, -4)}AAAA` });
    await expect(wrong.call("runRetention", {})).rejects.toMatchObject({ status: 401 });
  });

  it("a change continues at the worker after its command was interrupted, and says so", async () => {
    const remote = { DRS_ADMIN_URL: admin.service.adminUrl, DRS_ADMIN_TOKEN: token };
    // A rotation waits for this lock.
    const { owner } = scene;
    await owner.query(`select pg_advisory_lock(${LOCKS.maintenance})`);
    let stderr = "";
    let interrupt = (): void => {};
    const output = new Writable({ write: (chunk, _, done) => ((stderr += String(chunk)), done()) });
    const onInterrupt = (listener: () => void): void => void (interrupt = listener);
    const context = { ...contextWith(remote, output, output), onInterrupt };
    const rotation = runProgram(context, ["key", "rotate"]);
    const isWaiting = `select ${AWAITED_LOCKS}`;
    await until(async () => (await owner.query(isWaiting)).rowCount !== 0);
    interrupt();
    expect(stderr).toBe("key.rotate continues: check whether it took effect.\n");
    await owner.query(`select pg_advisory_unlock(${LOCKS.maintenance})`);
    expect(await rotation).toBe(1);
    expect(stderr).toContain("comes from the environment");
  });

  it("the admin API alone relays the export of an account by the worker, and its rejections", async () => {
    const exported = { account: who.account, reason: "request 17" };
    const refused = client.call("exportAccount", { ...exported, request_id: NO_EVENT });
    await expect(refused).rejects.toMatchObject({ status: 404, problem: { code: "not-found" } });
    const { request } = await client.call("addRequest", { account: who.account, kind: "access" });
    const parts = [];
    const { request_id } = request;
    const waiting = await client.call("exportAccount", { ...exported, request_id }).catch((error: unknown) => error);
    const approvalId = /Approval (\S+) by operator/.exec(String(waiting))?.[1] ?? "";
    const { approvals, pool, clock } = admin.system;
    await approvals.decide(pool, clock, { approvalId, person: "other", roles: ["operator"], decision: "approved" });
    for await (const part of await client.call("exportAccount", { ...exported, request_id })) parts.push(part);
    const { manifest } = parts.at(-1) as { manifest: { account: string } };
    expect(manifest.account).toBe(who.account);
    expect(parts.filter((part) => "base64" in part).length, "exact events").toBeGreaterThan(0);
  });

  it("ingestion alone can't forge a valid entry of an administrator with the keys and the login that it has", async () => {
    const atWorker = { ...scene.environment, ...(await keyFile(...SURFACES)) };
    const drs = (...args: readonly string[]): ReturnType<typeof runWithBreakGlass> =>
      runWithBreakGlass(atWorker, "audit", ...args);
    expect(await drs("switch-keys")).toMatchObject({ code: 0, stderr: "" });
    expect(await drs("switch-keys")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing/) as string });
    expect(await drs("verify")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The audit log holds/) as string,
    });
    expect(await runWithBreakGlass(scene.environment, "audit", "verify")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("DRS_AUDIT_KEY_FILE") as string,
    });
    const { audit, pool, secrets, pseudonymizer, clock } = ingest.system;
    const entry = { actor: "ann (token 1)", via: "api", operation: "event.read_raw", outcome: "done" } as const;
    await expect(writeAudit(pool, audit, entry)).rejects.toMatchObject({ code: "key-file-unusable" });
    // An attacker reads the installation secret with the key store of the process.
    const signer = new AuditSigner(await installationSecret(pool, secrets), pseudonymizer, secrets, clock);
    const forged = await writeAudit(pool, signer, entry);
    await writeAudit(pool, signer, { ...entry, via: "direct", operation: "audit.keys", references: { admin: "0" } });
    const { code, stdout } = await drs("verify");
    expect(code).toBe(6);
    expect(stdout).toContain(`(entry ${forged}) is of a key of admin that was replaced before`);
    await scene.owner.query("set session_replication_role = replica");
    await scene.owner.query(
      "delete from drs.audit_entry where operation in ('event.read_raw', 'audit.keys') and xid >= (select xid from drs.audit_entry where entry_id = $1)",
      [forged],
    );
    await scene.owner.query("set session_replication_role = origin");
  });

  it("each surface does not start without the MAC key that it signs with", async () => {
    const without = { code: "key-file-unusable", message: expect.stringContaining("the surface admin") as string };
    await expect(start(["admin"], `admin_${suffix}`, await keyFile("ingest"))).rejects.toMatchObject(without);
    await expect(start(["worker"], "postgres", await keyFile("ingest", "worker"))).rejects.toMatchObject(without);
  });

  it("the admin API with a login of its own does not start without its role", async () => {
    const url = scene.environment["DRS_DATABASE_URL"] ?? "";
    const own = { DRS_ADMIN_DATABASE_URL: url.replace("postgres@", `ingest_${suffix}@`) };
    await expect(start(["admin"], `admin_${suffix}`, own)).rejects.toMatchObject({ code: "schema-outdated" });
    await expect(start(["admin", "worker"], "postgres", own)).rejects.toMatchObject({
      code: "schema-outdated",
      message: expect.stringContaining("drs_admin"),
    });
  });

  it("ingestion and the admin API uses the login of each", async () => {
    const url = scene.environment["DRS_DATABASE_URL"] ?? "";
    const own = { DRS_ADMIN_DATABASE_URL: url.replace("postgres@", `admin_${suffix}@`) };
    const both = await start(["ingest", "admin"], `ingest_${suffix}`, own);
    const there = createAdminClient({ url: both.service.adminUrl, token });
    expect((await there.call("readHealth", {})).findings.length).toBeGreaterThan(10);
    expect((await there.call("listEvents", { account: who.account })).events.length).toBeGreaterThan(0);
    expect(both.errors).toEqual([]);
  });

  it("a worker alone has no page and no list of the admin API", async () => {
    const { adminUrl, url } = worker.service;
    expect(url).toBeUndefined();
    expect(await get(adminUrl, "/readyz")).toMatchObject({ status: 200, text: "ok\nserves: worker\n" });
    expect((await get(adminUrl, "/metrics")).text).toContain("drs_retention_lag_seconds");
    expect((await get(adminUrl, "/admin/v1/session")).status).toBe(404);
  });

  it("ingestion alone starts on a restored database once a worker has applied the erasure journal", async () => {
    const { environment, owner } = scene;
    const erased = await runWithBreakGlass(
      environment,
      "erase",
      "run",
      "--account",
      who.account,
      "--reason",
      "article 17",
      "--yes",
    );
    expect(erased).toMatchObject({ code: 0 });
    // The rows of the erasure are missing, as in a database that was restored to a state before it.
    const before = `begin; set local session_replication_role = replica; update drs.account_key set erased_by = null;
      delete from drs.erasure; delete from drs.journal_entry; commit`;
    await owner.query(before);
    await expect(start(["ingest"], `ingest_${suffix}`)).rejects.toMatchObject({ code: "replay-needed" });
    await worker.system.replay();
    const started = await start(["ingest"], `ingest_${suffix}`);
    expect((await get(started.service.adminUrl, "/readyz")).status).toBe(200);
  });

  it("each surface never needs a privilege that its login lacks", async () => {
    await ingest.service.stop();
    const errors = [ingest, admin, worker].flatMap((process) => process.errors.map(String));
    // The worker may have noticed the entries that a test above has forged.
    expect(errors.filter((error) => !error.includes("without a valid MAC"))).toEqual([]);
  });
});
