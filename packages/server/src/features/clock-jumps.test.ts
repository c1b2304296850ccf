/** Extraction, backfills and exports while the clocks of servers, workers and the database jump by hours. */
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { objects, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { advanceClock } from "../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { attestationSigner } from "../runtime/attestation-signer.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import { attestNext } from "./attest.ts";
import { type AttestationRow, listAttestations } from "./attestations.ts";
import { type BackfillPorts, backfillNext } from "./backfill.ts";
import { adoptFound, DECIDER, PURPOSE, textOfEvent } from "./adopt-feature.fixture.ts";
import { recordRetirement } from "./decisions.ts";
import { ExtractionWorker, extractNext } from "./extraction-worker.ts";
import { LayerRunners } from "./layer-runners.ts";
import { createParserOf } from "./read-inputs.ts";
import { verifyAttestation } from "./verify-attestation.ts";

const folder = useFolder();
const opened = useTestSystem("test", () => ({ DRS_ERASURE_JOURNAL: join(folder(), randomUUID()) }));
const runners = new LayerRunners();
const HOUR_MS = 3_600_000;
let past: Past;

beforeEach(() => {
  past = new Past(opened.system);
});
afterEach(() => past.close());
afterAll(() => runners.close());

/** Moves the clock of the database, the servers, the workers and the commands. */
const jump = (hours: number): Promise<void> => advanceClock(opened.environment, hours * HOUR_MS);

/** @param hoursAhead how far the clock of the server is ahead of that of the database. */
async function store(account: string, found = true, hoursAhead = 0): Promise<PastEvent> {
  return past.store(-hoursAhead, { account }, textOfEvent(found));
}

/** Stores an event whose partition is attested after 29 days. */
async function storeToAttest(account: string): Promise<void> {
  await opened.owner.query("update purpose set raw_retention = '30 days'");
  await store(account);
}

async function attest(): Promise<readonly AttestationRow[]> {
  const sign = attestationSigner(opened.system);
  expect(await attestNext({ ...opened.system, runners, sign })).toBe(true);
  return listAttestations(opened.system.pool, {}, { limit: 9 });
}

const adopt = (id: string): Promise<number> => adoptFound(opened.system, id);

const retire = (id: string): Promise<unknown> =>
  inOwnerTransaction(opened.system.administration, (owner) =>
    recordRetirement(owner, opened.system.audit, { features: [`${id}@1`], purpose: PURPOSE }, DECIDER),
  );

const ports = (more: Partial<BackfillPorts> = {}): BackfillPorts => ({
  pool: opened.system.pool,
  sealer: opened.system.sealer,
  featureSealer: opened.system.featureSealer,
  onError: (error) => expect.unreachable(String(error)),
  retrySeconds: 60,
  runners,
  parserOf: createParserOf((error) => expect.unreachable(String(error))),
  ...more,
});

/** The events with values in a layer, once for each row. */
const rowsOf = async (layer: number): Promise<readonly string[]> =>
  (
    await opened.owner.query<{ event_id: string }>(
      "select event_id from feature_row where layer = $1 order by event_id",
      [layer],
    )
  ).rows.map(({ event_id }) => event_id);

const idsOf = (...events: readonly PastEvent[]): readonly string[] => events.map(({ eventId }) => eventId).toSorted();

async function drs(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runWithBreakGlass(opened.environment, ...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout)[0] ?? {};
}

describe("extraction", () => {
  it("continues at once after the clock was set back or forward, and stores each event once", async () => {
    const layer = await adopt("continues");
    const worker = new ExtractionWorker(ports());
    const events: PastEvent[] = [];
    for (const hours of [-5, 10, -7]) {
      events.push(await store("jumps"));
      await jump(hours);
      events.push(await store("jumps"));
    }
    await until(async () => (await rowsOf(layer)).length === events.length);
    await worker.close();
    expect(await rowsOf(layer)).toEqual(idsOf(...events));
    expect((await opened.owner.query("select from extraction_due")).rowCount).toBe(0);
  });

  it("soon retries a batch that failed before the clock was set back", async () => {
    const layer = await adopt("again");
    const event = await store("again");
    const sealMany = (): Promise<never> => Promise.reject(new TypeError("fails once"));
    const failing = ports({ featureSealer: { ...opened.system.featureSealer, sealMany } });
    await expect(extractNext(failing)).rejects.toThrow("fails once");
    expect(await extractNext(ports()), "it waits a minute").toBeUndefined();
    await jump(-5);
    expect(await extractNext(ports())).toMatchObject({ rows: 1 });
    expect(await rowsOf(layer)).toEqual(idsOf(event));
  });

  it("waits at most a minute after a failure, although the wait is set to an hour", async () => {
    await adopt("waits");
    await store("waits");
    const sealMany = (): Promise<never> => Promise.reject(new TypeError("fails once"));
    const featureSealer = { ...opened.system.featureSealer, sealMany };
    await expect(extractNext(ports({ retrySeconds: 3_600, featureSealer }))).rejects.toThrow("fails once");
    expect(await extractNext(ports())).toBeUndefined();
    await jump(1 / 60);
    expect(await extractNext(ports())).toMatchObject({ rows: 1 });
  });

  it("stores no value as known before its event was received", async () => {
    const layer = await adopt("ahead");
    const event = await store("ahead", true, 3);
    await extractNext(ports());
    const early = "select event_id from feature_row where layer = $1 and extracted_at < received_at";
    expect(await rowsOf(layer)).toEqual(idsOf(event));
    expect((await opened.owner.query(early, [layer])).rowCount).toBe(0);
  });
});

describe("a feature is retired", () => {
  it("after the clock was set back before its adoption", async () => {
    const layer = await adopt("ended");
    await store("ended");
    await jump(-5);
    await retire("ended");
    while (await extractNext(ports()));
    expect((await opened.owner.query("select from layer where ended_at is null")).rowCount).toBe(0);
    const ends = "select from layer where layer = $1 and ended_at = active_from";
    expect((await opened.owner.query(ends, [layer])).rowCount).toBe(1);
  });

  it("at once after a server stored an event with a clock that was ahead", async () => {
    const layer = await adopt("ahead_at_end");
    const before = await store("ended");
    await store("ended", true, 30);
    await jump(1 / 60);
    await retire("ahead_at_end");
    await jump(1 / 60);
    await store("ended");
    while (await extractNext(ports()));
    expect(await rowsOf(layer)).toEqual(idsOf(before));
  });
});

describe("a backfill", () => {
  const start = async (layer: number, ...more: readonly string[]): Promise<string> => {
    const order = ["--purpose", "default", "--layer", String(layer), "--reason", "review 4711", ...more];
    return String((await drs("feature", "backfill", "start", ...order))["run_id"]);
  };
  const status = (run: string): Promise<Record<string, unknown>> => drs("feature", "backfill", "status", run);

  it("continues at its rate after the clock was set back or forward, and stores each event once", async () => {
    const events: PastEvent[] = [];
    // A jump may make the worker compute several pieces at once, and each jump needs a piece that is left.
    for (let n = 0; n < 12; n++) events.push(await store("backfilled"));
    const layer = await adopt("backfilled");
    const run = await start(layer, "--rate", "2");
    const worker = new ExtractionWorker(ports());
    for (const hours of [-5, 10, -7]) {
      const before = (await rowsOf(layer)).length;
      await jump(hours);
      await until(async () => (await rowsOf(layer)).length > before);
    }
    await until(async () => (await status(run))["state"] === "done");
    await worker.close();
    expect(await rowsOf(layer)).toEqual(idsOf(...events));
    expect(await status(run)).toMatchObject({ balance: { live: 12, stored: 12, missing: 0 } });
  });

  it("computes events that were received before the clock was set back, or by a clock that was ahead", async () => {
    const events = [await store("later"), await store("later", true, 2)];
    await jump(-5);
    const layer = await adopt("later");
    const run = await start(layer);
    while (await backfillNext(ports()));
    expect(await rowsOf(layer)).toEqual(idsOf(...events));
    expect(await status(run)).toMatchObject({ balance: { live: 2, stored: 2, missing: 0 } });
  });
});

describe("an export", () => {
  const ago = (milliseconds: number): string => new Date(opened.system.clock.now() - milliseconds).toISOString();
  let files = 0;
  async function exported(clock: string, ...rows: readonly string[]) {
    const path = join(folder(), `export-${files++}`);
    await writeFile(`${path}.csv`, ["account,label_time,label", ...rows, ""].join("\n"));
    const order = ["--features", "exported@1", "--purpose", "default", "--clock", clock, "--format", "jsonl"];
    const handedOut = ["--recipient", "fraud team", "--reason", "model 4711", "--expires", "2999-01-31"];
    const manifest = await drs("export", "run", "--labels", `${path}.csv`, ...order, ...handedOut, "--out", path);
    const values = objects(await readFile(path, "utf8")).map((row) => row["exported__v1"]);
    return { manifest, values, labels: `${path}.csv` };
  }

  it("contains, by the clock of known values, nothing that was stored at a later time of the database than its label", async () => {
    await adopt("exported");
    await store("known", true);
    await jump(-5);
    const label = ago(0);
    await jump(5);
    while (await extractNext(ports()));
    await jump(2);
    expect((await exported("known", `known,${label},good`, `known,${ago(0)},good`)).values).toEqual([null, true]);
    await store("ahead", true, 3);
    while (await extractNext(ports()));
    expect((await exported("known", `ahead,${ago(0)},good`)).values, "its event is received in 3 hours").toEqual([
      null,
    ]);
  });

  it("does not hide from an attestation the values that are stored after the export under a clock that was set back", async () => {
    const layer = await adopt("exported");
    await storeToAttest("attested");
    await jump(29.5 * 24);
    await exported("received", `attested,${ago(0)},good`);
    await jump(-1);
    while (await extractNext(ports()));
    expect(await attest()).toMatchObject([{ layer, rows: 1, equal: 1 }]);
  });

  it("does not hide from an export what is stored after an attestation under a clock that was set back", async () => {
    await adopt("exported");
    await storeToAttest("old");
    await jump(29.5 * 24);
    await attest();
    await jump(-1);
    await store("exported", true);
    while (await extractNext(ports()));
    expect((await exported("received", `exported,${ago(0)},good`)).values).toEqual([true]);
  });

  it("is repeated with the same bytes after the clock was set back and more values were stored", async () => {
    await adopt("exported");
    await store("repeated", true);
    while (await extractNext(ports()));
    await jump(2);
    const { manifest, values, labels } = await exported("received", `repeated,${ago(0)},good`);
    expect(values).toEqual([true]);
    await jump(-1);
    await store("repeated", false);
    while (await extractNext(ports()));
    const out = join(folder(), "again");
    const order = [String(manifest["export_id"]), "--labels", labels, "--reason", "a check", "--out", out];
    expect(await drs("export", "repeat", ...order)).toMatchObject({ same: true });
    expect((await exported("received", `repeated,${ago(0)},good`)).values, "a new export has them").toEqual([false]);
  });
});

describe("an attestation", () => {
  it("does not cover values that are stored after it under a clock that was set back", async () => {
    await adopt("late");
    await storeToAttest("late");
    await jump(29.5 * 24);
    const attestations = await attest();
    await jump(-1);
    while (await extractNext(ports()));
    const { rows } = await opened.owner.query<{ late: boolean }>(
      "select extracted_at >= attested_at as late from live_feature, attestation",
    );
    expect(rows).toEqual([{ late: true }]);
    for (const attestation of attestations) {
      const verified = await verifyAttestation(opened.system.pool, opened.system.featureSealer, attestation);
      expect(verified).toEqual({ isRootRight: true, found: 0, included: 0, unreadable: 0 });
    }
  });

  it("covers values that were stored under a clock that was set back after the start of an earlier attestation", async () => {
    await adopt("attested");
    await storeToAttest("one");
    await jump(24);
    await storeToAttest("two");
    await jump(29.5 * 24);
    await attest();
    await jump(-1);
    while (await extractNext(ports()));
    expect(await attest()).toMatchObject([
      { rows: 1, equal: 1 },
      { rows: 0, equal: 0 },
    ]);
  });
});
