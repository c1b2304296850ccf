/** Tests of entries that a login of the database inserts: they stop nothing, and no query takes them for a person's act. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { examine } from "../operations/doctor.ts";
import { useAuditedAccount } from "./audited-account.fixture.ts";
import { checkpointNow } from "../runtime/audit-log.ts";
import { openEventStore } from "../store/events/event-store.fixture.ts";
import { newEvent } from "../store/events/new-event.fixture.ts";
import { writeAudit } from "./audit.ts";
import { type AuditState, AuditWatch } from "./audit-watch.ts";
import { countOutcomes, findAccountExports } from "./search-audit.ts";

const opened = useTestSystem();
const { asRole } = useAuditedAccount(opened);
const LATE_MS = 121_000;

/** Inserts entries with these columns, as SQL, with the privileges of the login of ingestion. */
const forge = (columns: Readonly<Record<string, string>> = {}, rows = 1): Promise<void> => {
  const values = {
    entry_id: "gen_random_uuid()",
    at: "now()",
    actor: "'j.doe (console session x)'",
    via: "'console'",
    operation: "'event.read_raw'",
    outcome: "'done'",
    occurrences: "1",
    record: "sha256(number::text::bytea)",
    mac: "sha256('')",
    ...columns,
  };
  return asRole(
    "drs_ingest",
    `insert into audit_entry (${Object.keys(values).join(", ")})
      select ${Object.values(values).join(", ")} from generate_series(1, ${rows}) as number`,
  );
};

/** Runs SQL as another login than that of the server. */
async function asOtherLogin(text: string, ...values: readonly unknown[]): Promise<void> {
  const login = `eve_${randomUUID()}`;
  await opened.owner.query(`create role "${login}" in role drs_admin`);
  await opened.owner.query(`set session authorization "${login}"`);
  try {
    await opened.owner.query(text, [...values]);
  } finally {
    await opened.owner.query("reset session authorization");
    await opened.owner.query(`drop role "${login}"`);
  }
}

/** Inserts a copy of the entry of an export, which names another export. */
const forgeCopy = (columns: string, exportId: string, other: string): Promise<void> =>
  asOtherLogin(
    `insert into audit_entry (entry_id, detail, ${columns})
      select gen_random_uuid(), jsonb_build_object('export_id', $2::text), ${columns} from audit_entry
      where detail ->> 'export_id' = $1`,
    exportId,
    other,
  );

describe("an entry that a login of the database inserted", () => {
  it("has no time that the worker can't read", async () => {
    for (const at of ["infinity", "-infinity", "294276-01-01Z", "4713-01-01Z BC"]) {
      await expect(forge({ at: `'${at}'` }), at).rejects.toMatchObject({ code: "23514" });
    }
  });

  it("is late for the metrics and drs doctor after two minutes, also with a future time", async () => {
    await forge({ at: "'9999-12-30Z'" });
    const { pool, audit, clock } = opened.system;
    const later = { now: () => clock.now() + LATE_MS };
    let state: AuditState | undefined;
    const onState = (one: AuditState): void => void (state = one);
    await new AuditWatch({ executor: pool, audit, clock: later, monotonic: later, onState }).ping();
    expect(state?.unsignedMs).toBeGreaterThan(LATE_MS - 10_000);
    const findings = await examine({ ...opened.system, clock: later });
    expect(findings.find(({ what }) => what === "audit log")).toMatchObject({
      ok: false,
      detail: expect.stringContaining("the oldest entry without a checkpoint is 2 minutes old") as string,
    });
  });

  it("takes no place in a lane of the server, which stores its events", async () => {
    const store = await openEventStore(opened.system);
    await store.append(newEvent());
    await asOtherLogin(`insert into audit_entry (entry_id, at, actor, via, operation, outcome, occurrences, record, mac, lane, lane_number)
      select gen_random_uuid(), at, actor, via, operation, outcome, occurrences, record, mac, lane, lane_number + 1
        from audit_entry where lane is not null`);
    expect(await store.append(newEvent())).toBe("stored");
    await store.close();
  });

  it("is no export of an account, before and after a worker has checked it; an export of the server is one at once", async () => {
    const { pool, audit } = opened.system;
    const scope = { actor: "cli:anna", via: "direct", operation: "account.export", outcome: "done" } as const;
    const [forged, real] = [randomUUID(), randomUUID()];
    await forge({
      operation: "'account.export'",
      subject: `'\\x${audit.subjectOf("one").toString("hex")}'`,
      detail: `'{"export_id": "${forged}"}'`,
    });
    await writeAudit(pool, audit, { ...scope, account: "one", references: { export_id: real, request_id: forged } });
    await forgeCopy("at, actor, via, operation, outcome, occurrences, subject, record, mac", real, forged);
    const found = () => findAccountExports(pool, audit, audit.subjectOf("one"), {});
    expect(await found()).toMatchObject([{ export_id: real, request_id: forged }]);
    await checkpointNow(opened.system);
    expect(await found()).toMatchObject([{ export_id: real, request_id: forged }]);
    const only = { exportId: forged, since: "2000-01-01T00:00:00Z" };
    expect(await findAccountExports(pool, audit, audit.subjectOf("one"), only)).toEqual([]);
  });

  it("has no count that makes sums too large", async () => {
    for (const occurrences of ["9223372036854775807", "1000000000001", "-1"]) {
      await expect(forge({ occurrences }), occurrences).rejects.toMatchObject({ code: "23514" });
    }
    await forge({ occurrences: "1000000000000", outcome: "'replayed'" }, 2_000);
    expect(await countOutcomes(opened.system.pool, ["replayed"])).toEqual([
      { outcome: "replayed", events: 2_000_000_000_000_000 },
    ]);
  });
});
