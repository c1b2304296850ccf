/** Tests of the list of work that runs or waits. */
import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AdminClient, Answer } from "@device-risk-signals/admin-api";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { requestVerification } from "../../audit/verification-table.ts";
import { addWrapped, recordRotation } from "../../store/crypto/rotation-table.ts";
import { withMaintenanceLock } from "../../store/postgres/maintenance-lock.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";
import { useStoredEvent } from "./stored-event.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);
useStoredEvent(scene);
let operator: AdminClient;

const TABLES = ["feature_chunk", "feature_run", "extraction_due", "data_export", "legal_hold", "key_rotation"];

beforeAll(async () => {
  operator = await listener.client(["operator"], { person: "olga" });
});

afterEach(async () => {
  await scene.owner.query("set session_replication_role = replica");
  for (const table of [...TABLES, "audit_verification", "approval", "retention_effect", "erasure", "journal_entry"])
    await scene.owner.query(`delete from ${table}`);
  await scene.owner.query("reset session_replication_role");
});

type Listed = Answer<"listWork">;

const list = (): Promise<Listed> => operator.call("listWork", {});
const workOf = async (kind: string): Promise<Listed["work"]> => (await list()).work.filter((one) => one.kind === kind);

const HOSTILE = "=cmd <script>\u202e\u0007__proto__";

/** Inserts a backfill with a chunk of 10 events, of which 4 are computed. @returns its id. */
async function insertBackfill(state: string, minutesAgo: number, startedBy = "ben"): Promise<string> {
  const { rows } = await scene.owner.query<{ run_id: string }>(
    `insert into feature_run (run_id, purpose, layers, from_at, to_at, state, started_at, started_by, reason, ended_at)
      values (gen_random_uuid(), 1, '{1}', 'epoch', 'infinity', $1, wall_clock_time() - make_interval(mins => $2), $3, 'of customer-1',
        case when $1 = 'cancelled' then wall_clock_time() end)
      returning run_id`,
    [state, minutesAgo, startedBy],
  );
  const runId = rows[0]?.run_id ?? "";
  await scene.owner.query(
    `insert into feature_chunk (run_id, step, from_at, from_event, to_at, to_event, at_time, at_event, events, computed)
      values ($1, 'compute', 'epoch', gen_random_uuid(), 'infinity', gen_random_uuid(), 'epoch', gen_random_uuid(), 10, 4)`,
    [runId],
  );
  return runId;
}

/** Inserts an export of 7 labels that has written 3 rows and has not ended. */
async function insertExport(startedAgo: string): Promise<void> {
  await scene.owner.query(
    `with made as (insert into data_export (export_id, kind, purpose, features, clock, reason, labels_sha256, label_rows, format, recipient,
        expires_on, watermark, erasures, started_by, started_at, attributes, input_states)
      values (gen_random_uuid(), 'features', 1, '{a@1}', 'known', 'r', '', 7, 'csv', 'customer-1', '2999-01-01', now(), 0, 'ann',
        wall_clock_time() - $1::interval, '{}', false) returning export_id)
    insert into export_subject select export_id, 3, '\\x00' from made`,
    [startedAgo],
  );
}

describe("the list of work", () => {
  it("is empty if nothing runs or waits", async () => {
    expect(await list()).toEqual({ work: [], more: [] });
  });

  it("has backfills that run or are paused, with progress and the next command, oldest first", async () => {
    await insertBackfill("running", 5, HOSTILE);
    const paused = await insertBackfill("paused", 60);
    await insertBackfill("cancelled", 60);
    expect((await list()).work).toMatchObject([
      {
        id: paused,
        state: "waiting",
        done: 4,
        of: 10,
        unit: "events",
        started_by: "ben",
        waits_for: expect.stringContaining(`drs feature backfill resume ${paused}`),
      },
      { state: "running", started_by: HOSTILE, waits_for: expect.stringContaining("drs feature work") },
    ]);
    expect((await list()).work[0]?.age_seconds).toBeGreaterThanOrEqual(3_600);
  });

  it("cuts a name that a login of the database has inserted", async () => {
    await insertBackfill("running", 1, "x".repeat(10_000));
    expect((await workOf("backfill"))[0]?.started_by).toHaveLength(256);
  });

  it("has twenty of a kind, and says of which there are more, so that no kind hides another", async () => {
    for (let count = 0; count < 21; count++) await insertBackfill("running", 60 - count);
    await insertExport("1 minute");
    const { work, more } = await list();
    expect(work.filter(({ kind }) => kind === "backfill")).toHaveLength(20);
    expect(work.filter(({ kind }) => kind === "export")).toHaveLength(1);
    expect(more).toEqual(["backfill"]);
  });

  it("has exports of the last day that have not ended, without recipient and reason", async () => {
    await insertExport("2 days");
    await insertExport("2 hours");
    const found = await workOf("export");
    expect(found).toMatchObject([{ state: "running", done: 3, of: 7, unit: "labels", started_by: "ann" }]);
    expect(JSON.stringify(found)).not.toContain("customer-1");
  });

  it("has new events whose features wait for more than a minute", async () => {
    const insert = `insert into extraction_due (purposes, received_at, event_ids, stored_at)
      values ('{1,1}', array[now(), now()], array[gen_random_uuid(), gen_random_uuid()], wall_clock_time() - $1::interval)`;
    await scene.owner.query(insert, ["1 second"]);
    expect(await workOf("extraction")).toEqual([]);
    await scene.owner.query(insert, ["10 minutes"]);
    expect(await workOf("extraction")).toMatchObject([{ id: null, of: 4, unit: "events" }]);
  });

  it("has holds whose account or action a replay has not found", async () => {
    await scene.owner.query(
      `insert into legal_hold (hold_id, reason, approver, review_on, placed_at, placed_by, subject_kind, subject_mac)
        values (gen_random_uuid(), 'r', 'customer-1', '2999-01-01', wall_clock_time(), 'paula', 'account', '\\x00')`,
    );
    expect(await workOf("hold")).toMatchObject([{ started_by: "paula", state: "waiting" }]);
  });

  it("has what a killed retention pass has left, and a pass that runs", async () => {
    await scene.owner.query("insert into retention_effect (rows) values (3)");
    expect(await workOf("retention")).toMatchObject([
      { id: null, state: "waiting", of: 1, started_by: null, waits_for: expect.stringContaining("drs retention run") },
    ]);
    await withMaintenanceLock(scene.system.database, async () => {
      expect(await workOf("retention")).toMatchObject([{ state: "running", waits_for: null }]);
    });
    const privacy = await listener.client(["privacy"]);
    await privacy.call("runRetention", {});
    expect(await workOf("retention")).toEqual([]);
  });

  it("has a rotation that was interrupted, and no more after the next rotation", async () => {
    const { pool } = scene.system;
    const id = await recordRotation(pool, { actor: "rita", secrets: 3, continues: false });
    await addWrapped(pool, id, 2);
    expect(await workOf("rotation")).toMatchObject([
      {
        id,
        state: "waiting",
        done: 2,
        of: 3,
        started_by: "rita",
        waits_for: expect.stringContaining("drs key rotate"),
      },
    ]);
    expect(await recordRotation(pool, { actor: "ralf", secrets: 1, continues: true })).toBe(id);
    expect(await workOf("rotation")).toMatchObject([{ id, done: 2, of: 3, started_by: "rita" }]);
    expect(await recordRotation(pool, { actor: "ralf", secrets: 3, continues: false })).not.toBe(id);
    expect(await workOf("rotation")).toMatchObject([{ done: 0, of: 3, started_by: "ralf" }]);
  });

  it("continues a rotation in spite of numbers that a login of the database has inserted, and cuts its name", async () => {
    const { pool } = scene.system;
    const insert = "insert into key_rotation (rotation_id, started_by, secrets, wrapped) values ($1, $2, $3, $3)";
    const id = randomUUID();
    for (const number of ["9223372036854775807", "-1"]) {
      await expect(scene.owner.query(insert, [id, "rita", number])).rejects.toMatchObject({ code: "23514" });
    }
    await scene.owner.query(insert, [id, "x".repeat(10_000), "1000000000000"]);
    expect(await recordRotation(pool, { actor: "ralf", secrets: 3, continues: true })).toBe(id);
    await addWrapped(pool, id, 3);
    const [found] = await workOf("rotation");
    expect(found).toMatchObject({ id, done: 1_000_000_000_000, of: 1_000_000_000_000 });
    expect(found?.started_by).toHaveLength(256);
  });

  it("has approvals that wait or were given, without their parameters, and none that the server did not sign", async () => {
    const { approvals, pool, clock } = scene.system;
    const plan = { events: 2_000 };
    const asked = { operation: "erase.run", parameters: { account: "customer-1" }, plan, events: 2_000 };
    const wanted = { ...asked, needed: ["operator", "privacy"], anyRole: true, person: "ida", reason: "r" } as const;
    const id = await approvals.request(pool, clock, wanted);
    await scene.owner.query(
      `insert into approval (approval_id, operation, parameters, plan, digest, needed_roles, reason, requested_by, max_events,
          requested_at, expires_at, mac)
        select gen_random_uuid(), 'forged', parameters, plan, digest, needed_roles, reason, requested_by, max_events,
          requested_at, expires_at, mac from approval`,
    );
    const [waiting, ...others] = await workOf("approval");
    expect(others).toEqual([]);
    expect(waiting).toMatchObject({ id, done: 0, of: 1, started_by: "ida" });
    expect(waiting?.waits_for).toBe(`a decision about erase.run by operator or privacy: drs approval show ${id}`);
    await approvals.decide(pool, clock, { approvalId: id, person: "otto", roles: ["operator"], decision: "approved" });
    expect(await workOf("approval")).toMatchObject([{ id, done: 1, waits_for: expect.stringMatching(/^ida, who/) }]);
    await scene.owner.query("set session_replication_role = replica; delete from approval_decision");
    await scene.owner.query("reset session_replication_role");
    await approvals.withdraw(pool, clock, id, "ida");
    expect(await workOf("approval")).toEqual([]);
  });

  it("has verifications of the audit log, and none that the server did not sign", async () => {
    const { pool, audit } = scene.system;
    const id = await requestVerification(pool, audit.verifications, { by: "vera" });
    await scene.owner.query(
      "insert into audit_verification (verification_id, requested_by, request, request_mac) values (gen_random_uuid(), 'forged', '{}', sha256(''))",
    );
    expect(await workOf("verification")).toMatchObject([{ id, state: "waiting", done: 0, started_by: "vera" }]);
  });

  it("has erasures that are not finished or of which a hold keeps copies, and a journal that does not fit", async () => {
    await scene.owner.query(
      `insert into journal_entry (sequence, kind, entry_digest) values (1, 'account', '\\x00'), (2, 'account', '\\x00'), (3, 'account', '\\x00')`,
    );
    await scene.owner.query(
      `insert into erasure (sequence, erasure_id, kind, began_at, finished_at, actor, reason, keys, events, held, completed_at)
        values (1, gen_random_uuid(), 'account', now() - interval '3 hours', null, 'paula', 'r', '{}', 40, 0, null),
          (2, gen_random_uuid(), 'account', now() - interval '2 hours', now(), 'paula', 'r', '{}', 40, 5, null),
          (3, gen_random_uuid(), 'account', now() - interval '1 hours', now(), 'paula', 'r', '{}', 40, 5, now())`,
    );
    const { work } = await list();
    expect(work.map(({ kind }) => kind)).toEqual(["order", "erasure", "erasure"]);
    expect(work[0]).toMatchObject({ id: null, age_seconds: null, waits_for: expect.stringContaining("journal") });
    expect(work[1]).toMatchObject({ done: 40, of: null, unit: "events", started_by: "paula" });
    expect(work[2]).toMatchObject({ done: 5, of: 5, unit: "copies of held events" });
  });

  it("is read by operator, privacy and auditor, and by no other role, and each read is audited", async () => {
    for (const role of ["analyst", "investigator"] as const) {
      const client = await listener.client([role]);
      await expect(client.call("listWork", {})).rejects.toMatchObject({ problem: { status: 403 } });
    }
    for (const role of ["privacy", "auditor"] as const) {
      const client = await listener.client([role]);
      expect(await client.call("listWork", {})).toEqual({ work: [], more: [] });
    }
    const audited = "select outcome from audit_entry where operation = 'work.list' and actor like 'person-auditor%'";
    expect((await scene.owner.query(audited)).rows).toEqual([{ outcome: "done" }]);
  });
});
