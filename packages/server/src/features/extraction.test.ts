/** From due events to the stored values of features. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { objects, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import type { PastEvent } from "../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { sealFeatures } from "../store/crypto/seal-features.fixture.ts";
import { readEvent } from "../store/events/read-events.ts";
import { Unavailable } from "../base/ports.ts";
import { readPolicyVersion } from "../purposes/policy-table.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { ExtractionWorker, extractNext } from "./extraction-worker.ts";
import type { WorkerPorts } from "./worker-ports.ts";
import { encodeFeatures } from "./feature-payload.ts";
import { insertFeatureRows } from "./feature-rows.ts";
import { bundle, LAYER, useFeatureValues } from "./feature-values.fixture.ts";
import { LayerRunners } from "./layer-runners.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const { past, errors, clear, applyPolicy, propose, adopt, retire, store, ports, read, layerOf, failuresOf, statusOf } =
  useFeatureValues(opened, folder);

describe("extraction", () => {
  beforeEach(clear);

  it("stores one row for each event and layer, counts it by day, and leaves nothing due", async () => {
    const [observed, departed] = [await store("one"), await store("two", { suBinaryFound: 1 })];
    while (await extractNext(ports()));
    expect(await read(observed)).toEqual({ 1: [{ state: "observed", value: true, inputs: ["observed"] }] });
    expect(await read(departed)).toEqual({ 1: [{ state: "departed", inputs: ["departed:number"] }] });
    expect((await opened.owner.query("select from extraction_due")).rowCount).toBe(0);
    const { rows } = await opened.owner.query(
      "select feature, platform, state, bin, occurrences::int from feature_tally order by state desc",
    );
    const key = { feature: "found@1", platform: "android" };
    expect(rows).toEqual([
      { ...key, state: "observed", bin: "true", occurrences: 1 },
      { ...key, state: "departed", bin: "", occurrences: 1 },
    ]);
  });

  it("stores features that the export of the account contains, with their meaning", async () => {
    const out = join(folder(), "export");
    const order = ["--account", "one", "--out", out, "--reason", "request 17"];
    expect(await runWithBreakGlass(opened.environment, "account", "export", ...order)).toMatchObject({ code: 0 });
    expect(objects(await readFile(join(out, "features.ndjson"), "utf8"))).toMatchObject([
      { purpose: "default", feature: "found@1", meaning: "An example", state: "observed", value: true },
    ]);
  });

  it("masks what the purpose does not cover", async () => {
    await applyPolicy({ probes: ["network"] });
    const event = await store("masked");
    await extractNext(ports());
    await applyPolicy({});
    expect(await read(event)).toEqual({ 1: [{ state: "masked", inputs: ["masked"] }] });
  });

  it("masks by the new policy where another one was applied during the computation", async () => {
    const { featureSealer } = opened.system;
    const event = await store("policy-changes");
    const during = ports({
      featureSealer: {
        ...featureSealer,
        sealMany: async (rows) => {
          await applyPolicy({ probes: ["network"] });
          return featureSealer.sealMany(rows);
        },
      },
    });
    await expect(extractNext(during)).rejects.toThrow(Unavailable);
    const { rows } = await opened.owner.query("select tries from extraction_due");
    expect(rows).toEqual([{ tries: 0 }]);
    await extractNext(ports());
    await applyPolicy({});
    expect(await read(event)).toEqual({ 1: [{ state: "masked", inputs: ["masked"] }] });
  });

  it("keeps the first row where a second computation gives another result, and reports it", async () => {
    const event = await store("twice");
    const stored = await readEvent(opened.system.pool, event);
    const keyId = stored && "keyId" in stored.sealedUnder ? stored.sealedUnder.keyId : "";
    const other = encodeFeatures(Buffer.of(), [], await readPolicyVersion(opened.system.pool), Buffer.of());
    const payload = await sealFeatures(opened.system.featureSealer, { ...event, layer: 1 }, keyId, other);
    await inTransaction(opened.system.pool, (transaction) =>
      insertFeatureRows(transaction, [{ ...event, layer: 1, keyId, payload }]),
    );
    expect(await extractNext(ports())).toMatchObject({ rows: 0, differences: 1 });
    expect(errors.splice(0)).toMatchObject([{ code: "feature-not-deterministic" }]);
    expect(await read(event)).toEqual({ 1: [] });
  });

  it("does not compare results of different policies", async () => {
    const event = await store("policies");
    await extractNext(ports());
    const otherPolicy = (await readPolicyVersion(opened.system.pool)) + 1;
    const values = encodeFeatures(Buffer.of(), [], otherPolicy, Buffer.of());
    const stored = await readEvent(opened.system.pool, event);
    const keyId = stored && "keyId" in stored.sealedUnder ? stored.sealedUnder.keyId : "";
    const payload = await sealFeatures(opened.system.featureSealer, { ...event, layer: 1 }, keyId, values);
    await opened.owner.query("set session_replication_role = replica");
    await opened.owner.query("update feature_row set payload = $1 where event_id = $2", [payload, event.eventId]);
    await opened.owner.query("reset session_replication_role");
    await opened.owner.query(
      "insert into extraction_due (purposes, received_at, event_ids) values ('{1}', array[$1::timestamptz], array[$2::uuid])",
      [new Date(event.receivedAt).toISOString(), event.eventId],
    );
    expect(await extractNext(ports())).toMatchObject({ rows: 0, differences: 0 });
  });

  it("computes nothing of a restricted account, and records an event that can't be opened", async () => {
    const order = ["--account", "restricted", "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
    const restricted = await store("restricted");
    const placed = await runWithBreakGlass(opened.environment, "restriction", "add", ...order, "--json");
    const noEvent = await past().store(0, { account: "no-event" }, "[]");
    const damaged = await store("damaged");
    await opened.owner.query("alter table event disable trigger event_is_immutable");
    await opened.owner.query("update event set payload = '\\x00' where event_id = $1", [damaged.eventId]);
    await opened.owner.query("alter table event enable trigger event_is_immutable");
    while (await extractNext(ports()));
    expect(await read(restricted)).toEqual({});
    expect(await failuresOf(restricted)).toEqual([]);
    expect(await failuresOf(noEvent)).toEqual([{ layer: 1, reason: "not-json" }]);
    expect(await failuresOf(damaged)).toEqual([{ layer: 1, reason: "unreadable" }]);
    const lifting = ["--informed-on", new Date().toISOString().slice(0, 10), "--reason", "it is resolved", "--yes"];
    const id = String(objects(placed.stdout)[0]?.["restriction_id"]);
    expect(await runWithBreakGlass(opened.environment, "restriction", "lift", id, ...lifting)).toMatchObject({
      code: 0,
    });
    expect(await statusOf(restricted)).toEqual(["excluded", "not-computed"]);
  });

  it("deletes failures with their events", async () => {
    const [one, account] = [
      await past().store(0, { account: "fails" }, "[]"),
      await past().store(0, { account: "all" }, "[]"),
    ];
    while (await extractNext(ports()));
    for (const event of [one, account]) expect(await failuresOf(event)).toHaveLength(1);
    const erase = (...subject: readonly string[]) =>
      runWithBreakGlass(opened.environment, "erase", "run", ...subject, "--reason", "request 17", "--yes");
    expect(await erase("--event", one.eventId)).toMatchObject({ code: 0 });
    expect(await erase("--account", "all")).toMatchObject({ code: 0 });
    for (const event of [one, account]) expect(await failuresOf(event)).toEqual([]);
  });

  it("of a batch that always fails is given up, and never keeps others waiting", async () => {
    const { featureSealer } = opened.system;
    const poison = await store("poison");
    const failing = ports({
      featureSealer: {
        ...featureSealer,
        sealMany: (rows) => {
          if (rows.some(({ identity }) => identity.account === "poison")) throw new TypeError("poison");
          return featureSealer.sealMany(rows);
        },
      },
    });
    await expect(extractNext(failing)).rejects.toThrow("poison");
    const other = await store("other");
    expect(await extractNext(failing)).toMatchObject({ rows: 1 });
    expect(await read(other)).toHaveProperty("1");
    for (let tries = 1; tries < 5; tries++) await expect(extractNext(failing)).rejects.toThrow("poison");
    expect(await extractNext(failing)).toBeUndefined();
    expect(await failuresOf(poison)).toEqual([{ layer: 1, reason: "error" }]);
  });

  it("of one event that always fails does not delay the other events of its batch", async () => {
    const { featureSealer } = opened.system;
    const [poison, neighbour] = [await store("poison-2"), await store("neighbour")];
    const both = [poison.eventId, neighbour.eventId];
    await opened.owner.query("delete from extraction_due where event_ids && $1::uuid[]", [both]);
    await opened.owner.query(
      "insert into extraction_due (purposes, received_at, event_ids) values ('{1,1}', $1::timestamptz[], $2::uuid[])",
      [[poison, neighbour].map(({ receivedAt }) => new Date(receivedAt).toISOString()), both],
    );
    const failing = ports({
      featureSealer: {
        ...featureSealer,
        sealMany: (rows) => {
          if (rows.some(({ identity }) => identity.account === "poison-2")) throw new TypeError("poison");
          return featureSealer.sealMany(rows);
        },
      },
    });
    for (let tries = 0; tries < 5; tries++) await expect(extractNext(failing)).rejects.toThrow("poison");
    expect(await failuresOf(poison)).toEqual([{ layer: 1, reason: "error" }]);
    expect(await failuresOf(neighbour)).toEqual([]);
    expect(await read(neighbour)).toHaveProperty("1");
  });

  it("of an event that fails in one layer stores its values of the other layers", async () => {
    const { featureSealer } = opened.system;
    await propose(bundle("poisoned"));
    const layer = await adopt(["poisoned@1"]);
    const event = await store("one-layer");
    const failing = ports({
      featureSealer: {
        ...featureSealer,
        sealMany: (rows) => {
          if (rows.some(({ identity }) => identity.layer === layer)) throw new TypeError("poison");
          return featureSealer.sealMany(rows);
        },
      },
    });
    for (let tries = 0; tries < 5; tries++) await expect(extractNext(failing)).rejects.toThrow("poison");
    await retire("poisoned@1");
    expect(await failuresOf(event)).toEqual([{ layer, reason: "error" }]);
    expect(Object.keys(await read(event))).toEqual([String(LAYER)]);
  });

  /** Runners of which those of one layer do not start. */
  class PartlyStarting extends LayerRunners {
    failing: number | undefined;
    override find(...args: Parameters<LayerRunners["find"]>): ReturnType<LayerRunners["find"]> {
      if (args[1].layer !== this.failing) return super.find(...args);
      return Promise.reject(new Unavailable("no memory", { code: "feature-not-started" }));
    }
  }

  it("of an event that waits for a layer computes no other layer again", async () => {
    await propose(bundle("slow_once", "({ su }) => { for (;;); }"), bundle("unstarted"));
    const [slow, unstarted] = [await adopt(["slow_once@1"]), await adopt(["unstarted@1"])];
    const event = await store("waits");
    const starting = new PartlyStarting();
    onTestFinished(() => starting.close());
    starting.failing = unstarted;
    const using = ports({ runners: starting });
    const codes = (): unknown[] => errors.splice(0).map((error) => (error as Unavailable).code);
    expect(await extractNext(using)).toMatchObject({ rows: 2, failures: 0, waiting: new Set([event.eventId]) });
    expect(codes()).toEqual(["feature-not-started", "feature-time-limit"]);
    expect(await extractNext(using)).toMatchObject({ rows: 0, failures: 0, waiting: new Set([event.eventId]) });
    expect(codes()).toEqual(["feature-not-started"]);
    starting.failing = undefined;
    expect(await extractNext(using)).toMatchObject({ rows: 1, failures: 0, waiting: new Set() });
    await retire("slow_once@1", "unstarted@1");
    expect(await failuresOf(event)).toEqual([{ layer: slow, reason: "time-limit" }]);
    expect(Object.keys(await read(event))).toEqual([LAYER, slow, unstarted].map(String));
  });

  it("of an event that waits for a layer counts a feature that layers share once", async () => {
    await propose(bundle("shared"), bundle("with_it"));
    const older = await adopt(["shared@1"]);
    const event = await store("shares");
    await retire("shared@1");
    const newer = await adopt(["shared@1", "with_it@1"]);
    const starting = new PartlyStarting();
    onTestFinished(() => starting.close());
    starting.failing = older;
    const using = ports({ runners: starting });
    expect(await extractNext(using)).toMatchObject({ waiting: new Set([event.eventId]) });
    starting.failing = undefined;
    errors.length = 0;
    expect(await extractNext(using)).toMatchObject({ rows: 1, waiting: new Set() });
    await retire("shared@1", "with_it@1");
    expect(Object.keys(await read(event))).toEqual([LAYER, older, newer].map(String));
    const { rows } = await opened.owner.query(
      "select feature, sum(occurrences)::int as occurrences from feature_tally where feature <> 'found@1' group by 1 order by 1",
    );
    expect(rows).toEqual(["shared@1", "with_it@1"].map((feature) => ({ feature, occurrences: 1 })));
  });

  it("of events that were read without the inputs of a layer stores no values of it, although it starts then", async () => {
    const starting = new PartlyStarting();
    onTestFinished(() => starting.close());
    starting.failing = LAYER;
    const { sealer } = opened.system;
    const openMany: WorkerPorts["sealer"]["openMany"] = (events) => {
      starting.failing = undefined;
      return sealer.openMany(events);
    };
    const event = await store("starts-late");
    const using = ports({ runners: starting, sealer: { ...sealer, openMany } });
    expect(await extractNext(using)).toMatchObject({ rows: 0, waiting: new Set([event.eventId]) });
    expect(errors.splice(0)).toMatchObject([{ code: "feature-not-started" }]);
    expect(await extractNext(using)).toMatchObject({ rows: 1 });
    expect(await read(event)).toEqual({ 1: [{ state: "observed", value: true, inputs: ["observed"] }] });
  });

  it("for a layer whose program can't be loaded fails alone, and reports the layer", async () => {
    await propose(bundle("changed"));
    const layer = await adopt(["changed@1"]);
    await opened.owner.query("set session_replication_role = replica");
    await opened.owner.query("update feature_version set bundle = bundle || ' ' where id = 'changed'");
    await opened.owner.query("reset session_replication_role");
    const event = await store("unloadable");
    expect(await extractNext(ports())).toMatchObject({ rows: 1, failures: 1 });
    await retire("changed@1");
    const message = `changed@1 does not match its hash, so layer ${layer} computes nothing`;
    expect(errors.splice(0)).toMatchObject([{ code: "feature-not-loadable", message }]);
    expect(await failuresOf(event)).toEqual([{ layer, reason: "error" }]);
    expect(Object.keys(await read(event))).toEqual([String(LAYER)]);
  });

  it("fails, and its process continues, where a later slice can't be read", async () => {
    const { sealer } = opened.system;
    const events: PastEvent[] = [];
    for (let n = 0; n < 251; n++) events.push(await store(`slice-${n}`));
    await opened.owner.query("delete from extraction_due");
    for (const half of [events.slice(0, 126), events.slice(126)]) {
      await opened.owner.query(
        "insert into extraction_due (purposes, received_at, event_ids) values ($1, $2::timestamptz[], $3::uuid[])",
        [
          half.map(() => 1),
          half.map(({ receivedAt }) => new Date(receivedAt).toISOString()),
          half.map((e) => e.eventId),
        ],
      );
    }
    let opens = 0;
    const away: WorkerPorts["sealer"] = {
      ...sealer,
      openMany: (events) => {
        opens += events.length;
        return opens > 250 ? Promise.reject(new Error("the key store is away")) : sealer.openMany(events);
      },
    };
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    await expect(extractNext(ports({ sealer: away }))).rejects.toThrow("the key store is away");
    expect({ opens, unhandled }).toEqual({ opens: 251, unhandled: [] });
    expect(await extractNext(ports())).toMatchObject({ rows: 126 });
  });

  it("keeps its events due while no process starts, and computes them when one starts again", async () => {
    const event = await store("no-process");
    const { execPath } = process;
    onTestFinished(() => void (process.execPath = execPath));
    const starting = new LayerRunners({ retryMs: 0 });
    const using = ports({ runners: starting });
    process.execPath = "/nowhere/node";
    const waiting = { rows: 0, failures: 0, waiting: new Set([event.eventId]) };
    for (let tries = 0; tries < 7; tries++) expect(await extractNext(using)).toMatchObject(waiting);
    process.execPath = execPath;
    expect(new Set(errors.splice(0).map((error) => (error as Unavailable).code))).toEqual(
      new Set(["feature-not-started"]),
    );
    await extractNext(using);
    expect(await failuresOf(event)).toEqual([]);
    expect(await read(event)).toHaveProperty(String(LAYER));
    await propose(bundle("blocks", "({ su }) => { if (su.value === false) for (;;); return su.value ?? null }"));
    const layer = await adopt(["blocks@1"]);
    await starting.find(opened.system.pool, await layerOf(layer));
    const slow = await store("not-replaced", { suBinaryFound: false });
    process.execPath = "/nowhere/node";
    expect(await extractNext(using), "an ended process can't be replaced").toMatchObject({ rows: 1, failures: 0 });
    process.execPath = execPath;
    await extractNext(using);
    await retire("blocks@1");
    await starting.close();
    errors.length = 0;
    expect(await failuresOf(slow)).toEqual([{ layer, reason: "time-limit" }]);
  });

  it("continues for the other features of a layer when one is retired, and ends for the retired one", async () => {
    await propose(bundle("a"), bundle("b"));
    const layer = await adopt(["a@1", "b@1"]);
    expect(await retire("a@1")).toEqual([layer]);
    const event = await store("retired");
    await extractNext(ports());
    await retire("b@1");
    expect(Object.keys(await read(event))).toEqual([String(LAYER), String(layer + 1)]);
  });

  it("computes a feature once of an event that was due when a retirement moved the feature to another layer", async () => {
    await propose(bundle("kept"), bundle("ended"));
    const layer = await adopt(["kept@1", "ended@1"]);
    const event = await store("across");
    await retire("ended@1");
    await extractNext(ports());
    await retire("kept@1");
    expect(Object.keys(await read(event))).toEqual([String(LAYER), String(layer)]);
    const { rows } = await opened.owner.query(
      "select feature, sum(occurrences)::int as occurrences from feature_tally where feature like '%ed@1' or feature = 'kept@1' group by 1 order by 1",
    );
    expect(rows).toEqual(["ended@1", "kept@1"].map((feature) => ({ feature, occurrences: 1 })));
  });

  it("of an idle worker sends few statements, and starts when something is due", async () => {
    const { pool } = opened.system;
    let statements = 0;
    const counting = new Proxy(pool, {
      get(target, name) {
        if (name === "connect") statements++;
        return Reflect.get(target, name, target) as unknown;
      },
    });
    const worker = new ExtractionWorker(ports({ pool: counting }));
    await sleep(800);
    expect(statements).toBeLessThanOrEqual(4);
    const event = await store("idle");
    await until(async () => "1" in (await read(event)));
    await worker.close();
  });

  it("is shared by workers: each event has one row in each layer", async () => {
    const workers = [0, 1].map(() => new ExtractionWorker(ports()));
    const events = await Promise.all(Array.from({ length: 30 }, (_, index) => store(`shared-${index % 3}`)));
    await until(async () => (await opened.owner.query("select from extraction_due")).rowCount === 0);
    await Promise.all(workers.map((worker) => worker.close()));
    for (const event of events) expect(Object.keys(await read(event))).toEqual([String(LAYER)]);
    expect(errors).toEqual([]);
  });
});
