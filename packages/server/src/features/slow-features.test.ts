/** Extraction with features that are too slow for some or all events. */
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../../../e2e/support/embedded.ts";
import type { PastEvent } from "../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import type { OperatorError } from "../base/errors/operator-error.ts";
import { openPool } from "../store/postgres/database.ts";
import { ExtractionWorker, extractNext } from "./extraction-worker.ts";
import { bundle, LAYER, useFeatureValues } from "./feature-values.fixture.ts";
import { LayerRunners } from "./layer-runners.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const { errors, clear, propose, adopt, retire, store, ports, read, layerOf, failuresOf, statusOf } = useFeatureValues(
  opened,
  folder,
);

describe("extraction", () => {
  beforeEach(clear);

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

  /** Does not end if `suBinaryFound` was observed `false`. */
  const BLOCKS = "({ su }) => { if (su.value === false) for (;;); return su.value ?? null }";
  /** Takes some milliseconds if `suBinaryFound` was observed `false`. */
  const SLOW = "({ su }) => { if (su.value === false) for (let i = 0; i < 3e7; i++); return su.value ?? null }";
  const slowly = (account: string): Promise<PastEvent> => store(account, { suBinaryFound: false });
  const TIME_LIMIT = { state: "failed", failure: "time-limit" };

  it.each([
    ["slow", SLOW],
    ["blocking", BLOCKS],
  ])("stores the other features of each row for which a %s feature fails", async (name, compute) => {
    await propose(bundle(name, compute), bundle(`${name}_beside`));
    const layer = await adopt([`${name}@1`, `${name}_beside@1`]);
    const events = [];
    for (let n = 0; n < 5; n++) events.push(await slowly("one"));
    const other = await store("other");
    while (await extractNext(ports()));
    for (const event of events) {
      expect((await read(event))[layer]).toMatchObject([TIME_LIMIT, { state: "observed", value: false }]);
      expect(await failuresOf(event)).toEqual([{ layer, reason: "time-limit" }]);
      expect(await statusOf(event)).toEqual(["computed", null]);
    }
    expect((await read(other))[layer]).toMatchObject([{ value: true }, { value: true }]);
    expect(await failuresOf(other)).toEqual([]);
    await retire(`${name}@1`, `${name}_beside@1`);
    const codes = new Set(errors.splice(0).map((error) => (error as OperatorError).code));
    expect(codes).toEqual(new Set(["feature-time-limit"]));
    const tally =
      "select state, sum(occurrences)::int as n from feature_tally where feature = $1 group by 1 order by 1";
    expect((await opened.owner.query(tally, [`${name}@1`])).rows).toEqual([
      { state: "failed", n: 5 },
      { state: "observed", n: 1 },
    ]);
  });

  it("does not compare a cell that failed because of its time, and compares the others", async () => {
    await propose(bundle("again", SLOW), bundle("beside_again"));
    const names = ["again@1", "beside_again@1"];
    const layer = await adopt(names);
    const event = await slowly("again");
    await extractNext(ports());
    expect((await read(event))[layer]).toMatchObject([TIME_LIMIT, { value: false }]);
    await due(event);
    const patient = new LayerRunners({ budgetMs: 60_000 });
    onTestFinished(() => patient.close());
    expect(await extractNext(ports({ runners: patient }))).toMatchObject({ rows: 0, differences: 0 });
    expect((await read(event))[layer], "only a backfill replaces a row").toMatchObject([TIME_LIMIT, { value: false }]);
    await retire(...names);
    expect(errors.splice(0)).toMatchObject([{ code: "feature-time-limit" }]);
  });

  it("makes the events of other accounts wait no longer than the time of one account", async () => {
    const many = Array.from({ length: 8 }, (_, n) => bundle(`many_${n}`, BLOCKS));
    const names = many.map(({ manifest }) => `${manifest.id}@1`);
    await propose(...many);
    const layer = await adopt(names);
    const events = [];
    for (let n = 0; n < 100; n++) events.push(await slowly("attacker"));
    const other = await store("victim");
    await due(...events, other);
    const limited = new LayerRunners();
    onTestFinished(() => limited.close());
    while (await extractNext(ports({ runners: limited })));
    expect((await read(other))[layer]?.every(({ state }) => state === "observed")).toBe(true);
    for (const event of events) expect((await read(event))[layer]).toHaveLength(8);
    const shares = await limited.accountTime.spend(["attacker", "victim"], async (given) => given);
    expect(shares[0]?.spentMs, "at most four ended processes").toBeLessThan(1_000);
    expect(shares[1]?.spentMs).toBe(0);
    await retire(...names);
    errors.length = 0;
  });

  it("makes the events of other accounts wait no longer than the time of the feature that is slow for many", async () => {
    await propose(bundle("for_all", BLOCKS), bundle("for_all_beside"));
    const names = ["for_all@1", "for_all_beside@1"];
    const layer = await adopt(names);
    const events = [];
    for (let n = 0; n < 40; n++) events.push(await slowly(`phone-${n % 20}`));
    const other = await store("victim");
    await due(...events, other);
    const limited = new LayerRunners();
    onTestFinished(() => limited.close());
    while (await extractNext(ports({ runners: limited })));
    expect((await read(other))[layer]).toMatchObject([TIME_LIMIT, { value: true }]);
    expect(await failuresOf(other)).toEqual([{ layer, reason: "time-limit" }]);
    for (const event of events) expect((await read(event))[layer]).toMatchObject([TIME_LIMIT, { value: false }]);
    const shares = await limited.featureTime.spend(names, async (given) => given);
    expect(shares[0]?.spentMs, "of one ended process beyond its time").toBeLessThan(3_000);
    expect(shares[1]?.spentMs).toBe(0);
    await retire(...names);
    expect(errors.splice(0)).toMatchObject([{ code: "feature-time-limit" }]);
  });

  it("stores its events where they take longer than a transaction may be idle", async () => {
    await propose(bundle("blocks_idle", BLOCKS));
    const layer = await adopt(["blocks_idle@1"]);
    const slow = await slowly("idle");
    const database = { ...opened.system.database, idle_in_transaction_session_timeout: 200 };
    const pool = openPool(database, { max: 1, onError: () => {} });
    onTestFinished(() => pool.end());
    await extractNext(ports({ pool }));
    await retire("blocks_idle@1");
    errors.length = 0;
    expect(Object.keys(await read(slow))).toEqual([LAYER, layer].map(String));
  });

  it("starts the process of a layer that does not start again only after a time", async () => {
    const { execPath } = process;
    onTestFinished(() => void (process.execPath = execPath));
    const starting = new LayerRunners({ retryMs: 2_000 });
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

  it("ends soon when its worker closes during slow events, and its events stay due", async () => {
    const blocking = Array.from({ length: 6 }, (_, at) => bundle(`blocks_close_${at}`, BLOCKS));
    await propose(...blocking);
    const names = blocking.map(({ manifest }) => `${manifest.id}@1`);
    await adopt(names);
    const slow = [];
    for (let n = 0; n < 40; n++) slow.push(await slowly(`closing-${n}`));
    await due(...slow);
    const worker = new ExtractionWorker(ports());
    const isFree = "select from extraction_due for update skip locked";
    await until(async () => (await opened.owner.query(isFree)).rowCount === 0);
    const start = performance.now();
    await worker.close();
    expect(performance.now() - start, "the batch takes longer").toBeLessThan(8_000);
    expect((await opened.owner.query("select tries from extraction_due")).rows).toEqual([{ tries: 0 }]);
    await retire(...names);
    expect(errors).toEqual([]);
    for (const event of slow) expect(await failuresOf(event)).toEqual([]);
    await opened.owner.query("delete from extraction_due");
  });
});
