/** Features of events that were stored before the adoption. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bundle } from "@device-risk-signals/features";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { objects, type Printed, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { Unavailable } from "../base/ports.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import { type BackfillPorts, backfillNext } from "./backfill.ts";
import type { BackfillRow } from "./backfill-runs.ts";
import { recordAdoption, recordProposal, recordRetirement } from "./decisions.ts";
import type { Extracted } from "./extract.ts";
import { ExtractionWorker, extractNext } from "./extraction-worker.ts";
import { LayerRunners } from "./layer-runners.ts";
import { createParserOf } from "./read-inputs.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const runners = new LayerRunners();
let past: Past;
beforeAll(async () => {
  await keepRaw("P30D");
  past = new Past(opened.system);
});
afterAll(async () => {
  await past.close();
  await runners.close();
});

async function keepRaw(raw_retention: string): Promise<void> {
  const file = join(folder(), "policy.yaml");
  const texts = { title: "t", legal_basis: "l", owner: "o" };
  const purpose = { id: "default", ...texts, raw_retention, derived_retention: "P1Y" };
  await writeFile(file, JSON.stringify({ purposes: [purpose], actions: {}, unmapped: "default" }));
  expect(await runWithBreakGlass(opened.environment, "purpose", "apply", file, "--yes")).toMatchObject({ code: 0 });
}

const DECIDER = { actor: "A. Analyst", via: "direct", reason: "a review" } as const;
const EVIDENCE = { days: 7, events: 0, is_limited: false, coverage: [], refused: [] };
const FOUND = "({ su }) => su.state === 'observed' ? su.value : null";
const purpose = { code: 1, id: "default" };

/** Adopts new features. @returns their layer. */
const adopt = (...ids: readonly string[]): Promise<number> => adoptComputing(FOUND, ...ids);

function adoptComputing(compute: string, ...ids: readonly string[]): Promise<number> {
  const bundles: Bundle[] = ids.map((id) => bundleOf(compute, { id, version: 1, purposes: ["default"] }));
  return inOwnerTransaction(opened.system.administration, async (owner) => {
    const { audit } = opened.system;
    await recordProposal(owner, audit, bundles, EVIDENCE, DECIDER);
    const adoption = { features: ids.map((id) => `${id}@1`), purpose, evidence: EVIDENCE, acceptsRefusals: false };
    return recordAdoption(owner, opened.system, adoption, DECIDER);
  });
}

const exact = JSON.stringify({
  probes: { os_integrity: { status: "success", data: { suBinaryFound: true } } },
  session_id: "s",
});
const store = (account: string, hoursAgo = 1, bytes = exact): Promise<PastEvent> =>
  past.store(hoursAgo, { account }, bytes);

const errors: unknown[] = [];
const ports = (more: Partial<BackfillPorts> = {}): BackfillPorts => ({
  pool: opened.system.pool,
  sealer: opened.system.sealer,
  featureSealer: opened.system.featureSealer,
  onError: (error) => void errors.push(error),
  retrySeconds: 0,
  runners,
  parserOf: createParserOf((error) => expect.unreachable(String(error))),
  ...more,
});

/** Works until nothing is left. @returns the number of stored rows. */
async function drain(using = ports()): Promise<number> {
  let rows = 0;
  for (let next: Extracted | undefined; (next = await backfillNext(using));) rows += next.rows;
  return rows;
}

async function erase(account: string): Promise<void> {
  const order = ["erase", "run", "--account", account, "--reason", "request 17", "--yes"];
  expect(await runWithBreakGlass(opened.environment, ...order)).toMatchObject({ code: 0 });
}

const drs = (...args: readonly string[]): Promise<Printed> =>
  runWithBreakGlass(opened.environment, "feature", "backfill", ...args);

async function start(layer: number, ...more: readonly string[]): Promise<string> {
  const order = ["--purpose", "default", "--layer", String(layer), "--reason", "review 4711"];
  const { stdout, stderr } = await drs("start", ...order, ...more, "--json");
  expect(stderr).toBe("");
  return String(objects(stdout)[0]?.["run_id"]);
}

async function status(run: string): Promise<BackfillRow> {
  return objects<BackfillRow>((await drs("status", run, "--json")).stdout)[0] as BackfillRow;
}

const rowsOf = async (layer: number): Promise<readonly string[]> =>
  (
    await opened.owner.query<{ event_id: string }>(
      "select event_id from feature_row where layer = $1 order by event_id",
      [layer],
    )
  ).rows.map(({ event_id }) => event_id);

const idsOf = (...events: readonly PastEvent[]): readonly string[] => events.map(({ eventId }) => eventId).toSorted();

/** The events that may be analysed. */
let stored: PastEvent[] = [];
beforeAll(async () => {
  stored = await Promise.all([store("a"), store("a", 2), store("b"), store("c", 30)]);
  await store("no-event", 1, "[]");
  await store("limited");
  const restriction = ["--account", "limited", "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
  expect(await runWithBreakGlass(opened.environment, "restriction", "add", ...restriction)).toMatchObject({ code: 0 });
});
beforeEach(async () => {
  errors.length = 0;
  await opened.owner.query("delete from extraction_due");
});

describe("a backfill", () => {
  it("stores a row of each event that was stored before the adoption, and its balance says why other events have none", async () => {
    const layer = await adopt("first");
    const run = await start(layer);
    expect(await status(run)).toMatchObject({ state: "running", remaining_seconds: null, rate: null });
    expect(await drain()).toBe(4);
    expect(await rowsOf(layer)).toEqual(idsOf(...stored));
    expect(await status(run)).toMatchObject({
      state: "done",
      layers: [layer],
      events: 6,
      computed: 6,
      remaining_seconds: 0,
      balance: { live: 6, stored: 4, restricted: 1, failed: 1, erased: 0, expired: 0, unreadable: 0, missing: 0 },
    });
    const { rows } = await opened.owner.query("select distinct run_id from feature_row where layer = $1", [layer]);
    expect(rows).toEqual([{ run_id: run }]);
  });

  it("computes only events that were received in its range", async () => {
    const layer = await adopt("range");
    const at = (hoursAgo: number): string => new Date(Date.now() - hoursAgo * 3_600_000).toISOString();
    const run = await start(layer, "--from", at(2.5), "--to", at(1.5));
    expect(await drain()).toBe(1);
    expect(await status(run)).toMatchObject({ events: 1, balance: { live: 1, stored: 1 } });
    expect((await drs("start", "--purpose", "default", "--from", "2999-01-31", "--reason", "review 4711")).code).toBe(
      1,
    );
    expect((await drs("start", "--purpose", "other", "--reason", "review 4711")).code).toBe(1);
  });

  it("of two runs over one range, with two workers, stores one row of each event", async () => {
    const layer = await adopt("twice");
    const runs = [await start(layer), await start(layer)];
    const due = await store("due", 0);
    const workers = [0, 1].map(() => new ExtractionWorker(ports()));
    const running = "select from feature_run where state = 'running'";
    await until(async () => (await opened.owner.query(running)).rowCount === 0);
    await until(async () => (await rowsOf(layer)).includes(due.eventId));
    await Promise.all(workers.map((worker) => worker.close()));
    for (const run of runs) expect((await status(run)).balance).toMatchObject({ stored: 4, missing: 0 });
    expect(await rowsOf(layer)).toEqual(idsOf(...stored, due));
    expect(errors).toEqual([]);
    stored.push(due);
    const third = await start(layer);
    const sealMany = (): never => expect.unreachable("all is computed");
    expect(await drain(ports({ featureSealer: { ...opened.system.featureSealer, sealMany } }))).toBe(0);
    expect((await status(third)).balance).toMatchObject({ stored: 5, missing: 0 });
  });

  it("computes the layers that it began with, although another layer is adopted meanwhile", async () => {
    const layer = await adopt("early");
    const run = await start(layer);
    const later = await adopt("meanwhile");
    expect(await drain()).toBe(stored.length);
    expect(await rowsOf(later)).toEqual([]);
    expect((await status(run)).balance).toMatchObject({ missing: 0, stored: stored.length });
  });

  it("does not compute a feature again if its values are in a layer that a retirement has ended", async () => {
    const layer = await adopt("rest", "retired");
    await start(layer, "--from", new Date(Date.now() - 2.5 * 3_600_000).toISOString());
    expect(await drain()).toBe(stored.length - 1);
    const retired = { features: ["retired@1"], purpose };
    await inOwnerTransaction(opened.system.administration, (owner) =>
      recordRetirement(owner, opened.system.audit, retired, DECIDER),
    );
    const run = await start(layer + 1);
    expect(await drain()).toBe(1);
    expect((await rowsOf(layer + 1)).length).toBe(1);
    expect((await status(run)).balance).toMatchObject({ missing: 0, stored: stored.length });
    const { rows } = await opened.owner.query(
      "select sum(occurrences)::int as occurrences from feature_tally where feature = 'rest@1'",
    );
    expect(rows).toEqual([{ occurrences: stored.length }]);
  });

  it("counts a feature once if two backfills of different layers compute it at the same time", async () => {
    // This backfill creates the partitions of values. Without it, the second backfill below would wait for them.
    await start(await adopt("partitions"));
    await drain();
    const layer = await adopt("counted", "ended");
    const before = await start(layer);
    const retired = { features: ["ended@1"], purpose };
    await inOwnerTransaction(opened.system.administration, (owner) =>
      recordRetirement(owner, opened.system.audit, retired, DECIDER),
    );
    const runs = [before, await start(layer + 1)];
    await opened.owner.query("update feature_chunk set step = 'compute' where run_id = any ($1)", [runs]);
    const { featureSealer } = opened.system;
    let otherRows: number | undefined;
    const first = ports({
      featureSealer: {
        ...featureSealer,
        sealMany: async (rows) => {
          otherRows ??= await drain(ports({ runners: otherRunners }));
          return featureSealer.sealMany(rows);
        },
      },
    });
    const otherRunners = new LayerRunners();
    await backfillNext(first);
    expect(otherRows, "it does not wait, because a piece may take longer than a statement").toBe(0);
    await drain();
    await otherRunners.close();
    for (const run of runs) expect((await status(run)).balance).toMatchObject({ missing: 0, stored: stored.length });
    const { rows } = await opened.owner.query(
      "select sum(occurrences)::int as occurrences from feature_tally where feature = 'counted@1'",
    );
    expect(rows).toEqual([{ occurrences: stored.length }]);
  });

  it("is paused, resumed where it was, and cancelled", async () => {
    const layer = await adopt("paused");
    const run = await start(layer);
    expect((await drs("pause", run)).stdout).toBe("The backfill is paused.\n");
    expect(await drain()).toBe(0);
    expect((await drs("resume", run)).stdout).toBe("The backfill is running.\n");
    expect(await backfillNext(ports())).toBeDefined();
    expect((await drs("cancel", run)).stdout).toBe("The backfill is cancelled.\n");
    expect(await drain()).toBe(0);
    expect((await drs("resume", run)).code).toBe(1);
    const { rows } = await opened.owner.query(
      "select operation from audit_entry where operation like 'backfill.%' and outcome = 'done' order by at desc, entry_id desc limit 3",
    );
    expect(rows.map(({ operation }: { operation: string }) => operation)).toEqual(
      ["cancel", "resume", "pause"].map((verb) => `backfill.${verb}`),
    );
  });

  it("continues where a worker was killed, and nothing that the worker had not committed is stored", async () => {
    const layer = await adopt("killed");
    const run = await start(layer);
    let seals = 0;
    const killed = ports({
      featureSealer: {
        ...opened.system.featureSealer,
        sealMany: (rows) => {
          if ((seals += rows.length) > 1) throw new Unavailable("database", new Error("killed"));
          return opened.system.featureSealer.sealMany(rows);
        },
      },
    });
    await expect(drain(killed)).rejects.toThrow();
    expect((await rowsOf(layer)).length).toBeLessThan(2);
    await drain();
    expect(await rowsOf(layer)).toEqual(idsOf(...stored));
    expect((await status(run)).balance).toMatchObject({ missing: 0 });
  });

  it("computes no more events in a second than its rate allows", async () => {
    const layer = await adopt("limited");
    const run = await start(layer, "--rate", "1");
    await opened.owner.query("update feature_run set next_at = now() + interval '2 minutes' where run_id = $1", [run]);
    expect(await drain()).toBe(0);
    await opened.owner.query("update feature_run set next_at = now() where run_id = $1", [run]);
    while ((await opened.owner.query("select from feature_chunk where run_id = $1 and step = 'split'", [run])).rowCount)
      expect(await backfillNext(ports()), "the rate does not delay a split").toBeDefined();
    expect(await backfillNext(ports())).toMatchObject({ rows: 1 });
    for (let left = 5; (await backfillNext(ports())) !== undefined; left--) expect(left).toBeGreaterThan(0);
    const { rows } = await opened.owner.query("select next_at > now() as waits from feature_run where run_id = $1", [
      run,
    ]);
    expect(rows).toEqual([{ waits: true }]);
    expect((await rowsOf(layer)).length).toBeLessThan(stored.length);
    await drs("cancel", run);
  });

  it("gives up an event that always fails, and no other", async () => {
    const poison = await store("poison", 0.5);
    const layer = await adopt("poisoned");
    const run = await start(layer);
    const { featureSealer } = opened.system;
    const failing = ports({
      featureSealer: {
        ...featureSealer,
        sealMany: (rows) => {
          if (rows.some(({ identity }) => identity.account === "poison")) throw new TypeError("poison");
          return featureSealer.sealMany(rows);
        },
      },
    });
    const failures: unknown[] = [];
    const fails = (): Promise<boolean> =>
      drain(failing).then(
        () => false,
        (error: unknown) => failures.push(error) < 20,
      );
    while (await fails());
    expect(failures.length).toBeGreaterThan(3);
    expect(await rowsOf(layer)).toEqual(idsOf(...stored));
    expect((await status(run)).balance).toMatchObject({ stored: stored.length, failed: 2, missing: 0 });
    stored.push(poison);
    await start(layer);
    expect(await drain()).toBe(1);
    const failed = "select from extraction_failure where event_id = $1";
    expect((await opened.owner.query(failed, [poison.eventId])).rowCount).toBe(0);
  });

  it("stores every event, and the one for which a feature is too slow is computed again by each backfill", async () => {
    const blocks = "({ su }) => { if (su.value === false) for (;;); return su.state === 'observed' ? su.value : null }";
    const slow = await store("slow", 1.7, exact.replace("true", "false"));
    const layer = await adoptComputing(blocks, "slow");
    await opened.owner.query("delete from extraction_due");
    const slowPorts = ports({ runners: new LayerRunners({ budgetMs: 50 }) });
    for (let n = 0; n < 4; n++) {
      const run = await start(layer);
      expect(await drain(slowPorts)).toBe(n === 0 ? stored.length + 1 : 0);
      const { balance } = await status(run);
      expect(balance).toMatchObject({ stored: stored.length + 1, failed: 1, missing: 0 });
    }
    expect(await rowsOf(layer)).toEqual(idsOf(...stored, slow));
    await slowPorts.runners.close();
    const failed = "select reason from extraction_failure where event_id = $1 and layer = $2";
    expect((await opened.owner.query(failed, [slow.eventId, layer])).rows).toEqual([{ reason: "time-limit" }]);
    await erase("slow");
  });

  it("replaces a row of which features failed because of their time, and counts them once", async () => {
    const slowly =
      "({ su }) => { if (su.value === false) for (let i = 0; i < 1e8; i++); return su.state === 'observed' ? su.value : null }";
    const layer = await adoptComputing(slowly, "slowly");
    await opened.owner.query("delete from extraction_due");
    const slow = await store("slowly", 1.8, exact.replace("true", "false"));
    while (await extractNext(ports()));
    const state =
      "select state, sum(occurrences)::int as n from feature_tally where feature = 'slowly@1' group by 1 order by 1";
    expect((await opened.owner.query(state)).rows).toEqual([{ state: "failed", n: 1 }]);
    const patient = ports({ runners: new LayerRunners({ budgetMs: 60_000 }) });
    await start(layer);
    await drain(patient);
    await patient.runners.close();
    const failed = "select from extraction_failure where event_id = $1 and layer = $2";
    expect((await opened.owner.query(failed, [slow.eventId, layer])).rowCount).toBe(0);
    const { rows } = await opened.owner.query(state);
    expect(rows).toEqual([
      { state: "failed", n: 0 },
      { state: "observed", n: stored.length + 1 },
    ]);
    expect(await rowsOf(layer)).toContain(slow.eventId);
    await erase("slowly");
  });

  it("stores nothing of an account that is erased during a piece", async () => {
    const layer = await adopt("erased");
    await store("erased", 1);
    await opened.owner.query("delete from extraction_due");
    const run = await start(layer);
    const { featureSealer } = opened.system;
    let erasing: Promise<Printed> | undefined;
    const order = ["erase", "run", "--account", "erased", "--reason", "request 17", "--yes"];
    const during = ports({
      featureSealer: {
        ...featureSealer,
        sealMany: async (rows) => {
          const payloads = await featureSealer.sealMany(rows);
          if (rows.some(({ identity }) => identity.account === "erased"))
            expect(await (erasing ??= runWithBreakGlass(opened.environment, ...order))).toMatchObject({ code: 0 });
          return payloads;
        },
      },
    });
    await drain(during);
    expect(erasing).toBeDefined();
    expect(await rowsOf(layer)).toEqual(idsOf(...stored));
    expect((await status(run)).balance).toMatchObject({ stored: stored.length, missing: 0 });
  });

  it("computes again what its balance misses", async () => {
    const layer = await adopt("late");
    const run = await start(layer);
    const steps = async (): Promise<readonly string[]> =>
      (await opened.owner.query<{ step: string }>("select step from feature_chunk where run_id = $1", [run])).rows.map(
        ({ step }) => step,
      );
    while ((await steps()).some((step) => step !== "balance")) await backfillNext(ports());
    stored.push(await store("late", 1.5));
    expect(await drain()).toBe(1);
    expect(await rowsOf(layer)).toEqual(idsOf(...stored));
    expect((await drs("status", run)).code).toBe(0);
  });

  it("has a balance of each layer, and the exit code 3 and a message that names the layer if values are missing", async () => {
    const layers = [await adopt("balanced"), await adopt("unbalanced")];
    const answer = await drs("start", "--purpose", "default", "--reason", "review 4711", "--json");
    const run = String(objects(answer.stdout)[0]?.["run_id"]);
    await drain();
    const { balance, balances } = await status(run);
    expect(balances.map(({ layer }) => layer)).toEqual(expect.arrayContaining(layers));
    const live = balances[0]?.live ?? 0;
    for (const of of balances) expect(of).toMatchObject({ live, missing: 0, deleted: 0 });
    expect(balance).toMatchObject({ live: live * balances.length, missing: 0 });
    for (const layer of layers) {
      expect(balances.find((of) => of.layer === layer)).toMatchObject({ stored: stored.length });
    }
    await opened.owner.query(
      `update feature_chunk set balance = (select jsonb_agg(case when one -> 'layer' = to_jsonb($2::int4)
        then one || '{"missing": 1}' else one end) from jsonb_array_elements(balance) one) where run_id = $1`,
      [run, layers[1]],
    );
    const { chunks } = (
      await opened.owner.query("select count(*)::int as chunks from feature_chunk where run_id = $1", [run])
    ).rows[0] as { chunks: number };
    const unbalanced = await drs("status", run);
    expect(unbalanced.code).toBe(3);
    expect(unbalanced.stderr).toContain(
      `The balance is not 0: ${run} misses ${chunks} of ${live} in layer ${layers[1]}.\n`,
    );
    expect(unbalanced.stdout).toMatch(/layer +live +stored/);
    await opened.owner.query("delete from feature_chunk where run_id = $1", [run]);
  });

  it("is cut into chunks of at most 5,000 events", async () => {
    await opened.owner.query(
      `insert into event (account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id,
          action_type, session_id, event_type, sdk_version, platform, app_version, payload, key_id)
        select account, purpose, received_at, gen_random_uuid(), collected_at, schema_version, gen_random_uuid(), action_id,
            action_type, session_id, event_type, sdk_version, platform, app_version, payload, key_id
          from event, generate_series(1, 5001) where event_id = $1`,
      [stored[1]?.eventId],
    );
    const run = await start(await adopt("many"));
    const sizes = async (): Promise<readonly number[]> =>
      (
        await opened.owner.query<{ events: number }>(
          "select events from feature_chunk where run_id = $1 and step = 'compute'",
          [run],
        )
      ).rows.map(({ events }) => events);
    await backfillNext(ports());
    expect((await sizes()).length, "one transaction cuts one chunk").toBeLessThanOrEqual(1);
    while ((await opened.owner.query("select from feature_chunk where run_id = $1 and step = 'split'", [run])).rowCount)
      await backfillNext(ports());
    expect(Math.max(...(await sizes()))).toBe(5_000);
    const { rows } = await opened.owner.query<{ n: number }>("select count(*)::int as n from event");
    expect((await sizes()).reduce((sum, events) => sum + events, 0)).toBe(rows[0]?.n);
    await drs("cancel", run);
    await opened.owner.query("delete from event where event_id::text !~ '^[0-9a-f]{8}-[0-9a-f]{4}-7'");
  });

  it("computes nothing for events that only a hold keeps", async () => {
    const hold = ["--account", "c", "--reason", "dispute 4711", "--approver", "J. Doe", "--review", "2999-01-31"];
    expect(await runWithBreakGlass(opened.environment, "hold", "add", ...hold)).toMatchObject({ code: 0 });
    await keepRaw("P1D");
    const run = await start(await adopt("held"));
    expect(await drain()).toBe(stored.length - 1);
    expect((await status(run)).balance).toMatchObject({ stored: stored.length - 1, expired: 1, missing: 0 });
  });

  it("deletes no value that lacks something because of its time, if it is held or its account is restricted", async () => {
    const events: Record<string, PastEvent> = {};
    for (const account of ["free", "held-account", "held-action", "held-event", "restricted-later"])
      events[account] = await store(account);
    const layer = await adopt("kept");
    await start(layer);
    await drain();
    const ids = Object.values(events).map(({ eventId }) => eventId);
    const failures = `insert into extraction_failure (event_id, layer, purpose, received_at, reason)
      select event_id, layer, purpose, received_at, 'time-limit' from feature_row where event_id = any ($1) and layer = $2`;
    expect((await opened.owner.query(failures, [ids, layer])).rowCount).toBe(5);
    const decided = ["--reason", "dispute 4711", "--approver", "J. Doe"];
    const held = [
      "--account held-account",
      `--action ${events["held-action"]?.actionId}`,
      `--event ${events["held-event"]?.eventId}`,
    ];
    for (const what of held) {
      const hold = await runWithBreakGlass(
        opened.environment,
        "hold",
        "add",
        ...what.split(" "),
        ...decided,
        "--review",
        "2999-01-31",
      );
      expect(hold).toMatchObject({ code: 0 });
    }
    const restriction = ["restriction", "add", "--account", "restricted-later", "--article", "18", ...decided];
    expect(await runWithBreakGlass(opened.environment, ...restriction)).toMatchObject({ code: 0 });
    await opened.system.pool.query("select drs.delete_incomplete_features($1, $2)", [ids, ids.map(() => layer)]);
    const left = await rowsOf(layer);
    expect(Object.keys(events).filter((account) => !left.includes(events[account]?.eventId ?? ""))).toEqual(["free"]);
  });
});
