/** Tests of recorded backups. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AdminClient } from "@device-risk-signals/admin-api";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);
let operator: AdminClient;

beforeAll(async () => {
  operator = await listener.client(["operator"], { person: "olga" });
  await scene.owner.query("set session_replication_role = replica");
  await scene.owner.query("update installation set created_at = wall_clock_time() - interval '10 days'");
  await scene.owner.query("reset session_replication_role");
});

afterEach(async () => {
  await scene.owner.query("delete from recorded_backup");
});

const ago = (seconds: number): string => new Date(scene.system.clock.now() - seconds * 1_000).toISOString();
const record = (store: string, at: string) => operator.call("recordBackup", { store: store as "events", at });

describe("a backup", () => {
  it("is recorded once, listed with who recorded it, and audited", async () => {
    const at = ago(7_200);
    expect(await record("events", at)).toEqual({ store: "events", taken_at: at, is_new: true });
    expect(await record("events", at)).toEqual({ store: "events", taken_at: at, is_new: false });
    await record("keys", ago(60));
    const { backups, stores } = await operator.call("listBackups", {});
    expect(backups.map(({ store }) => store)).toEqual(["keys", "events"]);
    expect(backups[1]).toMatchObject({ taken_at: at, recorded_by: expect.stringContaining("olga") });
    expect(stores).toMatchObject([
      { store: "events", taken_at: at, problem: null },
      { store: "keys", problem: null },
    ]);
    expect(stores[0]?.age_seconds).toBeGreaterThanOrEqual(7_200);
    expect((await operator.call("listBackups", { store: "keys" })).backups).toHaveLength(1);
    const audited = "select outcome from audit_entry where operation = 'backup.record'";
    expect((await scene.owner.query(audited)).rows).toEqual(Array.from({ length: 3 }, () => ({ outcome: "done" })));
  });

  it("has a time in another offset as UTC, to the millisecond", async () => {
    const at = ago(3_600);
    const shifted = new Date(Date.parse(at) + 7_200_000).toISOString().replace("Z", "+02:00");
    expect(await record("journal", shifted)).toMatchObject({ taken_at: at });
  });

  it.each(["in the future", "before the installation was created"])("%s is refused", async (when) => {
    const at = when === "in the future" ? ago(-60) : ago(11 * 86_400);
    await expect(record("events", at)).rejects.toMatchObject({
      problem: { status: 400, errors: [{ where: "body/at", detail: expect.stringContaining(`must not be ${when}`) }] },
    });
    expect((await operator.call("listBackups", {})).backups).toEqual([]);
  });

  it.each([
    ["=cmd", "2027-01-01T00:00:00Z"],
    ["__proto__", "2027-01-01T00:00:00Z"],
    ["events", "yesterday"],
    ["events", "2027-02-30T00:00:00Z"],
    ["events", "infinity"],
    ["events", "2027-01-01T00:00:00Z\u0000"],
  ])("of the store %s at %s is refused", async (store, at) => {
    await expect(record(store, at)).rejects.toMatchObject({ problem: { status: 400 } });
  });

  it("is recorded by an operator only, and read by privacy and auditor, too", async () => {
    for (const role of ["analyst", "investigator", "privacy", "auditor"] as const) {
      const client = await listener.client([role]);
      await expect(client.call("recordBackup", { store: "events", at: ago(1) })).rejects.toMatchObject({
        problem: { status: 403 },
      });
      const reading = client.call("listBackups", {});
      if (role === "privacy" || role === "auditor") expect(await reading).toMatchObject({ backups: [] });
      else await expect(reading).rejects.toMatchObject({ problem: { status: 403 } });
    }
  });

  it("is no row that the login of a surface inserts or changes", async () => {
    for (const role of ["drs_service", "drs_admin", "drs_ingest"]) {
      await scene.owner.query(`set role ${role}`);
      const insert = "insert into recorded_backup (store, taken_at, recorded_by) values ('events', now(), 'x')";
      await expect(scene.owner.query(insert)).rejects.toThrow("permission denied");
      await expect(scene.owner.query("delete from recorded_backup")).rejects.toThrow("permission denied");
      await scene.owner.query("reset role");
    }
  });

  it("is one of the latest thousand of its store that are kept, and of 200 that are listed", async () => {
    await scene.owner.query(
      `insert into recorded_backup (store, taken_at, recorded_by)
        select store, wall_clock_time() - make_interval(mins => n), 'cron'
          from generate_series(1, 1000) n, unnest(array['events', 'keys']) store`,
    );
    await record("events", ago(1));
    const { rows } = await scene.owner.query(
      "select store, count(*)::int from recorded_backup group by store order by store",
    );
    expect(rows).toEqual([
      { store: "events", count: 1_000 },
      { store: "keys", count: 1_000 },
    ]);
    expect((await operator.call("listBackups", {})).backups).toHaveLength(200);
  });
});
