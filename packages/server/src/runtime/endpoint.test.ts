import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import {
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "../../../../e2e/support/database.ts";
import { makeCredentials, openTestSystem } from "../../../../e2e/support/parties.ts";
import { writeAudit } from "../audit/audit.ts";
import { requestVerification } from "../audit/verification-table.ts";
import { Dependencies } from "../base/dependencies/dependencies.ts";
import { checkpointNow } from "./audit-log.ts";
import { AuditVerifier } from "./audit-verifier.ts";
import { assembleEndpoint } from "./endpoint.ts";
import { createMetrics } from "./metrics.ts";

let database: TestDatabase;
let owner: OwnerClient;
let environment: Record<string, string>;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  owner = await connectAsOwner(environment);
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(async () => {
  await owner?.end();
  await database?.close();
});

async function connections(): Promise<number> {
  const text = "select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
  return (await owner.query(text)).rowCount ?? 0;
}

test("an endpoint that fails at its last step leaves no timer and no connection", async () => {
  const system = await openTestSystem(environment);
  const before = await connections();
  const started = vi.spyOn(globalThis, "setTimeout");
  const cleared = vi.spyOn(globalThis, "clearTimeout");
  const prepare = (): Promise<never> => Promise.reject(new Error("late"));
  const partitions = Object.assign(Object.create(system.partitions), { prepare });
  await expect(assembleEndpoint({ ...system, partitions }, { onError: () => {} })).rejects.toThrow("late");
  const ended = new Set(cleared.mock.calls.map(([timer]) => timer));
  // The timers of loops keep no process running. Those of the pool's idle connections do, and stay.
  const timers = started.mock.results.map(({ value }) => value as NodeJS.Timeout).filter((timer) => !timer.hasRef());
  expect(timers.filter((timer) => !ended.has(timer))).toEqual([]);
  expect(timers).not.toEqual([]);
  // The pool of the system may have opened connections that stay open.
  await expect.poll(connections).toBeLessThanOrEqual(before + 2);
  await system.close();
});

test("the metrics name the configured dependencies, and no others", async () => {
  const system = await openTestSystem(environment);
  const endpoint = await assembleEndpoint(system, { onError: () => {} });
  const text = await endpoint.metrics.registry.metrics();
  expect(text.match(/(?<=drs_dependency_up\{dependency=")\w+/g)).toEqual(["database", "key_store", "audit_log"]);
  expect(text).toMatch(/^drs_audit_unsigned_seconds 0$/m);
  await endpoint.close();
  await system.close();
});

test("readiness and the metrics name an audit log that a worker found broken", async () => {
  const system = await openTestSystem(environment);
  await writeAudit(system.pool, system.audit, { actor: "a", via: "direct", operation: "o", outcome: "done" });
  await checkpointNow(system);
  await owner.query("delete from audit_leaf where leaf = 0");
  await requestVerification(system.pool, system.audit.verifications, { by: "ann" });
  const verifier = new AuditVerifier(system, () => {});
  const endpoint = await assembleEndpoint(system, { onError: () => {} });
  await expect
    .poll(async () => (await endpoint.readiness()).lines.join("\n"), { timeout: 20_000 })
    .toContain("the last verification found it broken: run drs audit verify");
  const text = await endpoint.metrics.registry.metrics();
  expect(text).toMatch(/^drs_audit_verification_verdict 6$/m);
  expect(text).toMatch(/^drs_dependency_up\{dependency="audit_log"\} 0$/m);
  await endpoint.close();
  await verifier.close();
  await system.close();
});

test("the metrics say for how long each sink lacks the latest checkpoint", async () => {
  const metrics = createMetrics(() => 0, new Dependencies(5_000));
  const sinks = [{ name: "folder", lagMs: 150_000 }];
  metrics.auditWatched({ unsignedMs: 0, sinks, verified: undefined });
  expect(await metrics.registry.metrics()).toMatch(/^drs_audit_sink_lag_seconds\{sink="folder"\} 150$/m);
});

test("steps of the system clock do not give an account an additional request", async () => {
  const limits = { DRS_THROTTLE_RATE: "1", DRS_THROTTLE_BURST: "1" };
  const system = await openTestSystem({ ...environment, ...limits });
  const { token } = await makeCredentials(system, "one");
  let step = 0;
  const clock = { now: () => Date.now() + step };
  const endpoint = await assembleEndpoint({ ...system, clock }, { onError: () => {} });
  const stopped = performance.now();
  const time = vi.spyOn(performance, "now").mockImplementation(() => stopped);
  const headers = { authorization: `Bearer ${token}`, "idempotency-key": "a-key" };
  const post = async (): Promise<number> => {
    const body = { forEach: async (take: (chunk: Uint8Array) => boolean) => (take(Buffer.from("{}")), "end" as const) };
    const all = (name: string): readonly string[] => (name in headers ? [headers[name as "authorization"]] : []);
    return (await endpoint.ingest({ method: "POST", headers: { all }, body, peer: "192.0.2.1" })).status;
  };
  try {
    expect(await post()).toBe(400);
    const statuses: number[] = [];
    for (step of [-3_600_000, 0]) statuses.push(await post());
    expect(statuses).toEqual([429, 429]);
  } finally {
    time.mockRestore();
    await endpoint.close();
    await system.close();
  }
});
