/** Tests that a log that stops growing, a sink that stays behind and a broken log are named. */
import { randomUUID } from "node:crypto";
import { describe, expect, it, test } from "vitest";
import { until } from "../../../../e2e/support/embedded.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { signCheckpoint } from "../operations/audit-log.ts";
import { portsOf } from "../operations/ports.ts";
import { checkpointNow } from "../runtime/audit-log.ts";
import { AuditVerifier } from "../runtime/audit-verifier.ts";
import { examine } from "../operations/doctor.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { type AuditState, AuditWatch } from "./audit-watch.ts";
import { writeAudit } from "./audit.ts";
import { findVerification, requestVerification, type StoredVerification } from "./verification-table.ts";

const opened = useTestSystem("test");
const LATE_MS = 121_000;

function openWatch() {
  const { pool: executor, audit, clock } = opened.system;
  let [now, passedMs] = [0, 0];
  let state: AuditState | undefined;
  const later = { now: () => clock.now() + passedMs };
  const ports = {
    executor,
    audit,
    clock: later,
    monotonic: { now: () => now },
    onState: (one: AuditState) => (state = one),
  };
  const watch = new AuditWatch(ports);
  return {
    watch,
    pass: (ms: number) => {
      now += ms;
      passedMs += ms;
    },
    problem: () =>
      watch.ping().then(
        () => undefined,
        ({ detail }: OperatorError) => (detail as { readonly problem?: string } | undefined)?.problem,
      ),
    state: () => state,
  };
}

const write = (): Promise<string> =>
  writeAudit(opened.system.pool, opened.system.audit, {
    actor: "cli:anna",
    via: "direct",
    operation: "o",
    outcome: "done",
  });
/** What the doctor says about the log, `afterMs` from now. */
async function finding(afterMs = 0) {
  const { system } = opened;
  const clock = { now: () => system.clock.now() + afterMs };
  return (await examine({ ...system, clock })).find(({ what }) => what === "audit log");
}

const ask = (): Promise<string> =>
  requestVerification(opened.system.pool, opened.system.audit.verifications, { by: "ann" });
const find = (id: string): Promise<StoredVerification | undefined> =>
  findVerification(opened.system.pool, opened.system.audit.verifications, id);

/** Waits for a worker to end a verification. */
async function verified(id?: string): Promise<StoredVerification> {
  const verifier = new AuditVerifier(opened.system, () => {});
  const asked = id ?? (await ask());
  let found: StoredVerification | undefined;
  await until(async () => (found = await find(asked))?.state === "ended");
  await verifier.close();
  return found as StoredVerification;
}

test("a worker that stops interrupts its verification, and the next worker begins it again", async () => {
  await write();
  await checkpointNow(opened.system);
  const errors: unknown[] = [];
  const stopping = new AuditVerifier(opened.system, (error) => errors.push(error));
  // The verification waits for the lock, so that it is still running when the worker stops.
  await opened.owner.query("begin; lock table audit_leaf");
  const id = await ask();
  await until(async () => (await find(id))?.state === "running");
  const closing = stopping.close();
  await opened.owner.query("commit");
  await closing;
  expect([(await find(id))?.state, errors]).toEqual(["running", []]);
  expect(JSON.parse((await verified(id)).result ?? "")).toMatchObject({ verdict: 3 });
});

test("an entry that gives itself a time in the future hides no age", async () => {
  const { watch, problem, pass, state } = openWatch();
  await opened.owner.query(
    `insert into audit_entry (entry_id, at, actor, via, operation, outcome, occurrences, record, mac)
      values (gen_random_uuid(), '9000-01-01Z', 'x', 'console', 'o', 'done', 1, 'x', decode(repeat('00', 32), 'hex'))`,
  );
  await problem();
  pass(LATE_MS);
  await problem();
  expect(state()?.unsignedMs).toBeGreaterThan(LATE_MS - 1_000);
  await watch.close();
});

test("a checkpoint that a login of the database wrote is not handed out", async () => {
  const { system, owner } = opened;
  const ports = { ...portsOf(system, system), usesOwnerLogin: false };
  const sign = async (): Promise<{ readonly checkpoint: string }> =>
    (await signCheckpoint({ ports, input: {} } as unknown as Parameters<typeof signCheckpoint>[0])).answer;
  await write();
  await checkpointNow(system);
  expect((await sign()).checkpoint).toMatch(/^drs-audit/);
  await owner.query(`insert into audit_checkpoint (epoch, size, at, note, roots, upto)
    select epoch, size + 1, at, replace(note, E'\\n', E'\\n1'), roots, upto from audit_checkpoint order by size desc limit 1`);
  await expect(sign()).rejects.toMatchObject({ code: "not-found" });
});

describe("the watch of the audit log", () => {
  it("names entries that get no checkpoint, until they have one", async () => {
    const { watch, pass, problem, state } = openWatch();
    await write();
    expect(await problem()).toBeUndefined();
    pass(LATE_MS);
    expect(await problem()).toMatch(/^has had entries without a checkpoint/);
    expect(state()?.unsignedMs).toBeGreaterThan(LATE_MS - 10_000);
    const late = "the oldest entry without a checkpoint is 2 minutes old";
    expect(await finding(LATE_MS)).toMatchObject({ ok: false, detail: expect.stringContaining(late) as string });
    await checkpointNow(opened.system);
    expect(await problem()).toBeUndefined();
    expect(state()?.unsignedMs).toBe(0);
    await watch.close();
  });

  it("names what stops the sequencer, although no entry waits", async () => {
    const { watch, pass, problem } = openWatch();
    watch.failed(new OperatorError("audit-log-broken", "the leaves are not those of the last checkpoint"));
    expect(await problem()).toBeUndefined();
    pass(LATE_MS);
    expect(await problem()).toBe("the leaves are not those of the last checkpoint");
    watch.passed([]);
    expect(await problem()).toBeUndefined();
  });

  it("names a sink that lacks the latest checkpoint, and measures its lag", async () => {
    const { watch, pass, problem, state } = openWatch();
    watch.passed([{ name: "the erasure journal", isCurrent: true }]);
    pass(LATE_MS);
    watch.passed([{ name: "the erasure journal", isCurrent: false }]);
    expect(await problem()).toMatch(/^the erasure journal has lacked the latest checkpoint/);
    expect(state()?.sinks).toEqual([{ name: "the erasure journal", lagMs: LATE_MS }]);
  });

  it("knows the result of the last verification by a worker, and names a broken log", async () => {
    const { problem, state } = openWatch();
    await write();
    await checkpointNow(opened.system);
    expect(JSON.parse((await verified()).result ?? "")).toMatchObject({ verdict: 3, size: 1, findings: [] });
    expect(await problem()).toBeUndefined();
    expect(state()?.verified?.verdict).toBe(3);
    expect(await finding()).toMatchObject({
      ok: true,
      detail: expect.stringContaining("not confirmed outside") as string,
    });
    await opened.owner.query("set session_replication_role = replica; update audit_leaf set hash = sha256('')");
    await verified();
    expect(await problem()).toMatch(/^the last verification found it broken/);
    expect(await finding()).toMatchObject({ ok: false });
  });

  it("takes no result that the server did not sign", async () => {
    const { state, problem } = openWatch();
    const { pool, audit } = opened.system;
    const id = await requestVerification(pool, audit.verifications, { by: "ann" });
    const forge =
      "update audit_verification set ended_at = now(), result = $1, result_mac = sha256('') where verification_id = $2";
    await expect(pool.query(forge, ['{"verdict":0}', id])).rejects.toMatchObject({ code: "42501" });
    await opened.owner.query(forge, ['{"verdict":0}', id]);
    await pool.query(
      "insert into audit_verification (verification_id, requested_by, request, request_mac) values ($1, 'eve', '{}', sha256(''))",
      [randomUUID()],
    );
    expect(await findVerification(pool, audit.verifications, id)).toBeUndefined();
    await verified();
    const { rows } = await opened.owner.query("select from audit_verification where requested_by = 'eve'");
    expect(rows).toEqual([]);
    await problem();
    expect(state()?.verified?.verdict).toBe(1);
    expect(await finding()).toMatchObject({ ok: false });
  });
});
