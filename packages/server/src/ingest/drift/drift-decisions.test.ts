/** Tests of stored decisions about drift: the server uses none that a login of the database wrote. */
import { describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { examine } from "../../operations/doctor.ts";
import { inTransaction } from "../../store/postgres/database.ts";
import type { Verdict } from "./drift-review.ts";
import { DRIFT_JSON_TYPES } from "./drift.ts";

const scene = useTestSystem("test");
const PATH = "new_probe.found";
const ACCEPTED: Verdict = { kind: "accepted", type: "boolean", sensitivity: "low" };
const NUMBER: Verdict = { kind: "accepted", type: "number", unit: "ms", sensitivity: "low" };
const classified = (sensitivity: "low" | "high"): Verdict => ({ kind: "classified", sensitivity });

const decide = (verdict: Verdict, by = "anna", path = PATH) => {
  const { pool, driftDecisions } = scene.system;
  return inTransaction(pool, (transaction) =>
    driftDecisions.decide(transaction, path, verdict, { by, reason: "review 4711" }),
  );
};
const fields = () => scene.system.driftDecisions.listAcceptedFields(scene.system.pool);

/** Runs SQL as the login of the admin API. */
const asAdmin = (text: string): Promise<void> => asLogin("drs_admin", text);

async function asLogin(role: string, text: string): Promise<void> {
  await scene.owner.query(`set role ${role}`);
  try {
    await scene.owner.query(text);
  } finally {
    await scene.owner.query("reset role");
  }
}
const COLUMNS = "path, type, unit, ignored_until, seen_types, reason";
const FORGE = `insert into drift_decision (decision_id, kind, sensitivity, decided_by, mac, ${COLUMNS})
  select gen_random_uuid(), 'classified', 'low', 'petra', mac, path, null, null, ignored_until, seen_types, reason
    from drift_decision order by decision desc limit 1`;

it("accepted fields are listed in the order of their paths, with the newest classification of each", async () => {
  await decide(ACCEPTED);
  await decide(NUMBER, "anna", "fonts.ms");
  await decide(ACCEPTED, "anna", "fonts.gone");
  await decide({ kind: "rejected" }, "anna", "fonts.gone");
  await decide({ kind: "ignored", until: "2999-01-31" }, "anna", "fonts.hidden");
  const acceptedField = { path: PATH, type: "boolean", unit: null, sensitivity: "high", is_classified: false };
  const ms = { path: "fonts.ms", type: "number", unit: "ms", sensitivity: "high", is_classified: false };
  expect(await fields()).toEqual([ms, acceptedField]);
  await decide(classified("low"), "petra");
  expect(await fields()).toEqual([ms, { ...acceptedField, sensitivity: "low", is_classified: true }]);
  await decide(classified("high"), "petra");
  expect(await fields()).toEqual([ms, { ...acceptedField, is_classified: true }]);
  await decide(ACCEPTED);
  expect(await fields()).toEqual([ms, acceptedField]);
});

it("a decision is valid in a session with another date style", async () => {
  await decide({ kind: "ignored", until: "2999-01-31" });
  await scene.owner.query("set datestyle to german");
  try {
    const [latest] = await scene.system.driftDecisions.list(scene.owner);
    expect(latest).toMatchObject({ kind: "ignored", ignored_until: "2999-01-31" });
  } finally {
    await scene.owner.query("reset datestyle");
  }
});

it("a path has no types that JSON does not have, so that a decision about it is not too large", async () => {
  const forge = `insert into drift (path, json_type, platform, sdk_version, first_seen, last_seen, occurrences, daily)
    select '${PATH}', 'type-' || number, 'ios', '1', now(), now(), 1, array_fill(1::int8, array[30]) from generate_series(1, 101) as number`;
  await expect(asLogin("drs_ingest", forge)).rejects.toMatchObject({ code: "23514" });
  const types = [...DRIFT_JSON_TYPES].toSorted();
  const valid = forge
    .replace("'type-' || number", `(array['${types.join("','")}'])[number]`)
    .replace("101", String(types.length));
  await asLogin("drs_ingest", valid);
  expect((await decide(ACCEPTED)).seen_types).toEqual(types);
});

it("the tables of drift accept the JSON types that the server writes, and no others", async () => {
  const { rows } = await scene.owner.query<{ definition: string }>(
    `select pg_get_constraintdef(oid) as definition from pg_constraint
      where contype = 'c' and conrelid in ('drift'::regclass, 'drift_decision'::regclass)
        and pg_get_constraintdef(oid) ~ 'not-walked'`,
  );
  const types = [...DRIFT_JSON_TYPES].toSorted();
  const accepted = rows.map(({ definition }) =>
    [
      ...new Set(definition.replaceAll(/::\w+|json_type|seen_types/g, "").match(/[a-z][a-z-]*(?=["',}])|\*/g)),
    ].toSorted(),
  );
  expect(accepted).toEqual([types, types]);
  const [limit] = rows.flatMap(({ definition }) => /cardinality\(seen_types\) <= (\d+)/.exec(definition)?.[1] ?? []);
  expect(limit).toBe(String(types.length));
});

describe("a decision that a login of the database wrote", () => {
  const health = async () => (await examine(scene.system)).find(({ what }) => what === "drift decisions")?.ok;

  it("has no effect, and drs doctor fails", async () => {
    await decide(ACCEPTED);
    expect(await health()).toBe(true);
    await asAdmin(FORGE);
    expect(await fields()).toMatchObject([{ path: PATH, sensitivity: "high", is_classified: false }]);
    const { pool, driftDecisions } = scene.system;
    expect(await driftDecisions.list(pool)).toMatchObject([{ kind: "accepted", decided_by: "anna" }]);
    expect(await health()).toBe(false);
  });

  it("can't be a copy of an earlier decision of a person", async () => {
    await decide(ACCEPTED);
    await decide(classified("low"), "petra");
    await decide(classified("high"), "petra");
    const copy = (id: string): string => `insert into drift_decision
        (decision_id, kind, sensitivity, decided_by, mac, ${COLUMNS})
      select ${id}, kind, sensitivity, decided_by, mac, ${COLUMNS} from drift_decision where sensitivity = 'low' and kind = 'classified'`;
    await expect(asAdmin(copy("decision_id"))).rejects.toMatchObject({ code: "23505" });
    await asAdmin(copy("gen_random_uuid()"));
    expect(await fields()).toMatchObject([{ path: PATH, sensitivity: "high", is_classified: true }]);
  });

  it("has no effect as a copy of a decision that a restore lost, even if it is inserted after a later decision", async () => {
    await decide(ACCEPTED);
    for (const person of ["petra", "paul"]) await decide(classified("low"), person);
    const row = "drift_decision where kind = 'classified' and sensitivity = 'low'";
    await scene.owner.query(`create temporary table lost as select * from ${row}; grant select on lost to drs_admin`);
    await scene.owner.query("set session_replication_role = replica");
    await scene.owner.query(`delete from ${row}`);
    await scene.owner.query("reset session_replication_role");
    await decide(classified("high"), "petra");
    const copy = (person: string): Promise<void> =>
      asAdmin(`insert into drift_decision (decision_id, kind, sensitivity, decided_by, mac, ${COLUMNS})
        select decision_id, kind, sensitivity, decided_by, mac, ${COLUMNS} from lost where decided_by = '${person}'`);
    await expect(copy("petra")).rejects.toMatchObject({ code: "23505" });
    await copy("paul");
    expect(await fields()).toMatchObject([{ path: PATH, sensitivity: "high", is_classified: true }]);
    expect(await health()).toBe(false);
    await decide(classified("low"), "petra");
    expect(await fields()).toMatchObject([{ path: PATH, sensitivity: "low", is_classified: true }]);
  });

  it("can't have a reason of more than 1,000 characters", async () => {
    await decide(ACCEPTED);
    const forge = FORGE.replace("seen_types, reason\n", "seen_types, repeat('a', 1001)\n");
    await expect(asAdmin(forge)).rejects.toMatchObject({ code: "23514" });
  });

  it.each([
    ["types", FORGE.replace("ignored_until, seen_types, reason\n", "ignored_until, array[repeat('a', 9)], reason\n")],
    ["name", FORGE.replace("'petra'", "repeat('a', 513)")],
    ["unit", FORGE.replace("path, null, null,", "path, 'number', repeat('a', 33),")],
  ])("has no %s without limit", async (_, forge) => {
    await decide(ACCEPTED);
    await expect(asAdmin(forge)).rejects.toMatchObject({ code: "23514" });
  });

  const flood = (count: number): Promise<void> =>
    asAdmin(`insert into drift_decision (decision_id, kind, sensitivity, decided_by, mac, ${COLUMNS})
      select gen_random_uuid(), 'classified', 'low', 'petra', sha256(''), path, null, null, null, seen_types, reason
        from generate_series(1, ${count}), (select * from drift_decision order by decision desc limit 1) as latest`);

  it("is not read for a list, however many of them there are", async () => {
    for (let number = 0; number < 251; number++) await decide(ACCEPTED);
    await decide(classified("low"), "petra");
    await flood(2_500);
    await decide(classified("high"), "petra");
    const { pool, driftDecisions } = scene.system;
    let read = 0;
    const executor = {
      query: async (text: string, values?: readonly unknown[]) => {
        const result = await pool.query<never>(text, [...(values ?? [])]);
        read += result.rows.length;
        return result;
      },
    };
    const listed = await driftDecisions.list(executor);
    expect(read).toBe(253);
    expect(listed.slice(0, 3).map(({ sensitivity, decided_by }) => [sensitivity, decided_by])).toEqual([
      ["high", "petra"],
      ["low", "petra"],
      ["low", "anna"],
    ]);
    expect(await fields()).toMatchObject([{ path: PATH, sensitivity: "high", is_classified: true }]);
  });

  it("is counted up to about a thousand", async () => {
    await decide(ACCEPTED);
    const { pool, clock, driftDecisions } = scene.system;
    await flood(120);
    expect(await driftDecisions.countForged(pool, clock)).toBe(120);
    await flood(5_000);
    const counted = await driftDecisions.countForged(pool, clock);
    expect(counted).toBeGreaterThanOrEqual(1_000);
    expect(counted).toBeLessThanOrEqual(2_000);
  });

  it("has no effect, even with the id of a decision that was rolled back", async () => {
    await decide(ACCEPTED);
    const { pool, driftDecisions } = scene.system;
    let lost: string | undefined;
    const decided = inTransaction(pool, async (transaction) => {
      const by = { by: "petra", reason: "review 4711" };
      await driftDecisions.decide(transaction, PATH, classified("high"), by);
      const latest = await transaction.query(
        "select decision_id::text from drift_decision order by decision desc limit 1",
      );
      lost = (latest.rows as readonly { readonly decision_id: string }[])[0]?.decision_id;
      throw new Error("rolled back");
    });
    await expect(decided).rejects.toThrow("rolled back");
    await asAdmin(FORGE.replace("gen_random_uuid()", `'${lost}'`));
    expect(await fields()).toMatchObject([{ path: PATH, is_classified: false }]);
    await decide(classified("low"), "petra");
    expect(await fields()).toMatchObject([{ path: PATH, sensitivity: "low", is_classified: true }]);
  });

  it("does not delay another decision while it is not committed", async () => {
    const { pool, driftDecisions } = scene.system;
    await inTransaction(pool, async (transaction) => {
      await driftDecisions.decide(transaction, PATH, ACCEPTED, { by: "anna", reason: "review" });
      await decide(classified("low"), "petra");
    });
    expect(await fields()).toMatchObject([{ path: PATH }]);
  });

  it("does not replace a decision of a person", async () => {
    await decide(ACCEPTED);
    for (const text of ["update drift_decision set decision_id = gen_random_uuid()", "delete from drift_decision"]) {
      await expect(asAdmin(text)).rejects.toMatchObject({ code: "42501" });
    }
  });
});
