/** Extraction with features that are too slow for some or all events. */
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { until } from "../../../../e2e/support/embedded.ts";
import type { PastEvent } from "../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { openPool } from "../postgres/database.ts";
import { ExtractionWorker, extractNext } from "./extraction-worker.ts";
import { bundle, LAYER, useFeatureValues } from "./feature-values.fixture.ts";
import { LayerRunners, type OpenLayer } from "./layer-runners.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const { runners, errors, clear, propose, adopt, retire, store, ports, read, layerOf, failuresOf, statusOf } =
  useFeatureValues(opened, folder);

describe("extraction", () => {
  beforeEach(clear);

  it("stores no value that depends on the time", async () => {
    await propose(bundle("slow", "({ su }) => { for (;;); }"));
    const layer = await adopt(["slow@1"]);
    const event = await store("slow");
    await extractNext(ports());
    expect(await statusOf(event)).toEqual(["computed", "over-budget"]);
    await retire("slow@1");
    expect(await failuresOf(event)).toEqual([{ layer, reason: "over-budget" }]);
    expect(Object.keys(await read(event))).toEqual(["1"]);
    expect(errors.splice(0)).toMatchObject([{ code: "feature-paused", message: expect.stringContaining("slow@1") }]);
  });

  /** Takes some milliseconds if `suBinaryFound` was observed `false`. */
  const SOMETIMES_SLOW =
    "({ su }) => { if (su.value === false) for (let i = 0; i < 1e7; i++); return su.state === 'observed' ? su.value : null }";
  const slowly = (account: string): Promise<PastEvent> => store(account, { suBinaryFound: false });

  /** Makes one due row of the events, in their order. */
  async function due(...events: readonly PastEvent[]): Promise<void> {
    await opened.owner.query("delete from extraction_due");
    await opened.owner.query(
      "insert into extraction_due (purposes, received_at, event_ids) values ($1, $2::timestamptz[], $3::uuid[])",
      [
        events.map(() => 1),
        events.map(({ receivedAt }) => new Date(receivedAt).toISOString()),
        events.map(({ eventId }) => eventId),
      ],
    );
  }

  it("of an event for which a feature is too slow does not delay the values of other events", async () => {
    await propose(bundle("once_slow", SOMETIMES_SLOW));
    const layer = await adopt(["once_slow@1"]);
    const [first, slow, last] = [await store("before"), await slowly("slow"), await store("after")];
    await due(last, slow, first);
    expect(await extractNext(ports())).toMatchObject({ decided: 2 });
    expect(await statusOf(first)).toEqual(["pending", null]);
    while (await extractNext(ports()));
    await retire("once_slow@1");
    expect(await failuresOf(slow)).toEqual([{ layer, reason: "over-budget" }]);
    for (const event of [first, last]) {
      expect(await read(event)).toHaveProperty(String(layer));
      expect(await failuresOf(event)).toEqual([]);
    }
    const { rows } = await opened.owner.query(
      "select sum(occurrences)::int as occurrences from feature_tally where feature = 'found@1'",
    );
    expect(rows, "no event is counted twice").toEqual([{ occurrences: 3 }]);
  });

  const BLOCKS = "({ su }) => { if (su.value === false) for (;;); return su.value ?? null }";

  it("stores its events where the search for slow features takes longer than a transaction may be idle", async () => {
    await propose(bundle("blocks_1", BLOCKS));
    const layer = await adopt(["blocks_1@1"]);
    const slow = await slowly("idle");
    const database = { ...opened.system.database, idle_in_transaction_session_timeout: 200 };
    const pool = openPool(database, { max: 1, onError: () => {} });
    onTestFinished(() => pool.end());
    await extractNext(ports({ pool }));
    await retire("blocks_1@1");
    errors.length = 0;
    expect(await failuresOf(slow)).toEqual([{ layer, reason: "over-budget" }]);
    expect(await read(slow)).toHaveProperty(String(LAYER));
  });

  it("decides an event on which features block longer than the search may take", async () => {
    await propose(bundle("blocks_2", BLOCKS), bundle("blocks_3", BLOCKS));
    const layer = await adopt(["blocks_2@1", "blocks_3@1"]);
    const slow = await slowly("search");
    // The three attempts of the first feature take longer.
    const searching = new LayerRunners({ graceMs: 1_000, searchMs: 2_500 });
    onTestFinished(() => searching.close());
    await extractNext(ports({ runners: searching }));
    await retire("blocks_2@1", "blocks_3@1");
    errors.length = 0;
    expect(await failuresOf(slow)).toEqual([{ layer, reason: "over-budget" }]);
  });

  it("starts the process of a layer that does not start again only after a time", async () => {
    const { execPath } = process;
    onTestFinished(() => void (process.execPath = execPath));
    const starting = new LayerRunners({ graceMs: 100, retryMs: 2_000 });
    onTestFinished(() => starting.close());
    const layer = await layerOf(LAYER);
    process.execPath = "/nowhere/node";
    const find = () => starting.find(opened.system.pool, layer);
    await expect(find()).rejects.toMatchObject({ code: "feature-not-started" });
    process.execPath = execPath;
    await expect(find(), "no process is started so soon").rejects.toMatchObject({ code: "feature-not-started" });
    await until(() =>
      find().then(
        () => true,
        () => false,
      ),
    );
  });

  it("pauses a layer whose searches for slow events take much time", async () => {
    const slow = new LayerRunners({ pauseMs: 4_000 });
    onTestFinished(() => slow.close());
    slow.addSearch(LAYER, 999);
    expect(slow.isPaused(LAYER), "one search can follow from a busy machine").toBe(false);
    slow.addSearch(LAYER, 1);
    expect(slow.isPaused(LAYER)).toBe(true);
  });

  it("of a batch whose programs decide no event fails, so that the batch waits and is given up", async () => {
    const event = await store("undecided");
    const stuck = new LayerRunners();
    const { features, inputs } = await runners.find(opened.system.pool, await layerOf(LAYER));
    const runner: OpenLayer["runner"] = {
      run: async (batch) => ({
        events: batch.map(() => [{ state: "failed", failure: "paused", inputs: [] }]),
        paused: [],
        searchedMs: 0,
      }),
      close: async () => {},
    };
    vi.spyOn(stuck, "find").mockResolvedValue({ runner, features, inputs });
    for (let tries = 0; tries < 5; tries++) {
      await expect(extractNext(ports({ runners: stuck }))).rejects.toThrow("no event was decided");
    }
    expect(await extractNext(ports())).toBeUndefined();
    expect(await failuresOf(event)).toEqual([{ layer: LAYER, reason: "error" }]);
  });

  it("pauses a layer after three slow events, for a minute", async () => {
    await propose(bundle("often_slow", SOMETIMES_SLOW));
    const layer = await adopt(["often_slow@1"]);
    const pausing = new LayerRunners({ graceMs: 100 });
    const using = ports({ runners: pausing });
    const slow = [await slowly("slow-1"), await slowly("slow-2"), await slowly("slow-3")];
    const innocent = await store("innocent");
    await due(...slow, innocent);
    while (await extractNext(using));
    for (const event of slow) expect(await failuresOf(event)).toEqual([{ layer, reason: "over-budget" }]);
    expect(await failuresOf(innocent)).toEqual([{ layer, reason: "paused" }]);
    expect(Object.keys(await read(innocent))).toEqual([String(LAYER)]);
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
    onTestFinished(() => clock.mockRestore());
    const later = await store("later");
    while (await extractNext(using));
    await retire("often_slow@1");
    await pausing.close();
    errors.length = 0;
    expect(Object.keys(await read(later))).toEqual([LAYER, layer].map(String));
  });

  it("pauses no layer after one slow event that is computed again and again", async () => {
    await propose(bundle("again_slow", SOMETIMES_SLOW));
    const layer = await adopt(["again_slow@1"]);
    const repeating = new LayerRunners({ graceMs: 100 });
    const slow = await slowly("slow-again");
    const innocent = await store("innocent-again");
    await due(innocent, slow);
    const { featureSealer } = opened.system;
    const sealMany: typeof featureSealer.sealMany = (rows) => {
      if (rows.some(({ identity }) => identity.layer === layer)) throw new Error("the key store is away");
      return featureSealer.sealMany(rows);
    };
    const failing = ports({ runners: repeating, featureSealer: { ...featureSealer, sealMany } });
    for (let tries = 0; tries < 4; tries++) {
      await expect(extractNext(failing)).rejects.toThrow("the key store is away");
    }
    while (await extractNext(ports({ runners: repeating })));
    expect(repeating.isPaused(layer)).toBe(false);
    await retire("again_slow@1");
    await repeating.close();
    errors.length = 0;
    expect(await failuresOf(slow)).toEqual([{ layer, reason: "over-budget" }]);
    expect(await read(innocent)).toHaveProperty(String(layer));
  });

  /** Takes some milliseconds if `suBinaryFound` was not observed. */
  const SLOW_IF_ABSENT = "({ su }) => { if (su.state !== 'observed') for (let i = 0; i < 1e7; i++); return null }";

  it("leaves what comes behind the slow event of another layer to the next batch", async () => {
    await propose(bundle("slow_first", SOMETIMES_SLOW), bundle("slow_last", SLOW_IF_ABSENT));
    const layers = [await adopt(["slow_first@1"]), await adopt(["slow_last@1"])];
    const [first, innocent, last] = [await slowly("first"), await store("between"), await store("last", {})];
    await due(first, innocent, last);
    const renewals = vi.spyOn(runners, "renew");
    onTestFinished(() => renewals.mockRestore());
    expect(await extractNext(ports())).toMatchObject({ decided: 1, slow: ["slow_first@1"] });
    expect(await extractNext(ports())).toMatchObject({ decided: 2, slow: ["slow_last@1"] });
    expect(renewals, "an event is not computed while it waits").toHaveBeenCalledTimes(2);
    await retire("slow_first@1", "slow_last@1");
    errors.length = 0;
    const [layerOfFirst, layerOfLast] = layers;
    expect(await failuresOf(first)).toEqual([{ layer: layerOfFirst, reason: "over-budget" }]);
    expect(await failuresOf(innocent)).toEqual([]);
    expect(await failuresOf(last)).toEqual([{ layer: layerOfLast, reason: "over-budget" }]);
  });

  it("reports a slow feature once, if its event waits behind the slow event of another layer", async () => {
    await propose(bundle("slow_behind", SOMETIMES_SLOW), bundle("slow_ahead", SLOW_IF_ABSENT));
    for (const name of ["slow_behind@1", "slow_ahead@1"]) await adopt([name]);
    await due(await store("ahead", {}), await slowly("behind"));
    expect(await extractNext(ports())).toMatchObject({ decided: 1, slow: ["slow_ahead@1"] });
    expect(await extractNext(ports())).toMatchObject({ decided: 1, slow: ["slow_behind@1"] });
    await retire("slow_behind@1", "slow_ahead@1");
    expect(errors.splice(0)).toMatchObject(
      ["slow_ahead@1", "slow_behind@1"].map((name) => ({
        code: "feature-paused",
        message: `too slow for an event: ${name}`,
      })),
    );
  });

  it("ends at once when its worker closes during a search for slow features, and its events stay due", async () => {
    const blocking = Array.from({ length: 6 }, (_, at) => bundle(`blocks_close_${at}`, BLOCKS));
    await propose(...blocking);
    const names = blocking.map(({ manifest }) => `${manifest.id}@1`);
    await adopt(names);
    const slow = await slowly("closing");
    const worker = new ExtractionWorker(ports());
    const isFree = "select from extraction_due for update skip locked";
    await until(async () => (await opened.owner.query(isFree)).rowCount === 0);
    const start = performance.now();
    await worker.close();
    expect(performance.now() - start, "a search takes fifteen seconds").toBeLessThan(8_000);
    expect((await opened.owner.query("select tries from extraction_due")).rows).toEqual([{ tries: 0 }]);
    await retire(...names);
    expect(errors).toEqual([]);
    expect(await failuresOf(slow)).toEqual([]);
    await opened.owner.query("delete from extraction_due");
  });
});
