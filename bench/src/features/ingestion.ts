/** A server that ingests events whose features are due: the delay of the values, and what features cost ingestion. */
import { spawn } from "node:child_process";
import type { LoadResult } from "../load.ts";
import { median } from "../median.ts";
import { endAtExit, load, print, printed, READY } from "../scene.ts";
import { cpuOf } from "../usage.ts";
import { CONNECTIONS, DRS_PATH, type FeatureScene } from "./feature-scene.ts";
import { row } from "./table.ts";

type Ingest = (rate: number, seconds: number) => Promise<LoadResult>;

/** Runs a server while `work` uses it. */
async function serving<T>(
  { drs, env }: FeatureScene,
  features: boolean,
  work: (ingest: Ingest, pid: number) => Promise<T>,
): Promise<T> {
  const { token } = await drs<{ token: string }>("token", "issue", "--account", "bench", "--ttl", "24h");
  await drs("action", "register", "--account", "bench", "--type", "payment", "--id", "act_1", "--ttl", "24h");
  const server = spawn(process.execPath, [DRS_PATH, "serve"], {
    env: { ...env, DRS_FEATURE_WORKER: String(features) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const url = await printed(server, READY);
  const ingest: Ingest = (rate, seconds) =>
    load({ url, token, actionId: "act_1", connections: CONNECTIONS, seconds, rate });
  const result = await work(ingest, server.pid ?? 0);
  server.kill("SIGTERM");
  await new Promise((resolve) => server.once("exit", resolve));
  return result;
}
/** Measures the time from the receipt of an event to its stored values, at half load. */
export async function measureDelay(scene: FeatureScene, seconds: number): Promise<void> {
  const { owner } = scene;
  await owner.query("delete from extraction_due");
  const late = await serving(scene, true, async (ingest) => {
    const full = await ingest(0, seconds);
    while ((await owner.query("select from extraction_due limit 1")).rowCount)
      await new Promise((done) => setTimeout(done, 200));
    const from = new Date().toISOString();
    await ingest(full.stored / full.seconds / 2, seconds);
    while ((await owner.query("select from extraction_due limit 1")).rowCount)
      await new Promise((done) => setTimeout(done, 200));
    const { rows: percentiles } = await owner.query<{ ms: number[] }>(
      `select percentile_cont(array[0.5, 0.99]) within group (order by extract(epoch from extracted_at - received_at) * 1000) as ms
      from feature_row where received_at >= $1`,
      [from],
    );
    return percentiles[0]?.ms ?? [];
  });
  row("half load: received → values stored, p50, ms", (late[0] ?? 0).toFixed(0), "≤ 250");
  row("half load: received → values stored, p99, ms", (late[1] ?? 0).toFixed(0), "≤ 1,000");
}

/** Measures ingestion with and without layers. The worker is a separate process, which does not run here. */
export const measureIngestion = (scene: FeatureScene, seconds: number, rounds: number): Promise<void> =>
  serving(scene, false, async (ingest, pid) => {
    const { names, adopt, retire } = scene;
    const kinds = {
      none: [],
      one: [names],
      five: [0, 1, 2, 3, 4].map((group) => names.slice(group * 5, group * 5 + 5)),
    };
    const figures: Record<string, { rate: number; cpu: number }[]> = { none: [], one: [], five: [] };
    for (let round = 0; round < rounds; round++) {
      for (const [kind, groups] of Object.entries(kinds)) {
        for (const group of groups) await adopt(group);
        const before = cpuOf(pid);
        const full = await ingest(0, seconds);
        const { stored } = full;
        figures[kind]?.push({ rate: stored / full.seconds, cpu: (cpuOf(pid) - before) / stored });
        for (const group of groups) await retire(group);
      }
    }
    const ratio = (kind: string, of: "rate" | "cpu"): string =>
      median((figures[kind] ?? []).map((one, round) => one[of] / (figures["none"]?.[round]?.[of] ?? 1))).toFixed(2);
    for (const kind of ["one", "five"]) {
      row(`ingestion with ${kind} layer(s) ÷ none, events/s`, ratio(kind, "rate"), "≥ 0.95");
      row(`ingestion with ${kind} layer(s) ÷ none, CPU`, ratio(kind, "cpu"), "≤ 1.05");
    }
  });

/** Measures ingestion at half load while a worker computes what is due, with and without a backfill. */
export async function measureNeighbour(scene: FeatureScene, seconds: number, rounds: number): Promise<void> {
  const { owner, env, names, adopt, retire, beginBackfill, cancelBackfill } = scene;
  await adopt(names);
  const worker = spawn(process.execPath, [DRS_PATH, "feature", "work"], { env, stdio: ["ignore", "pipe", "pipe"] });
  endAtExit(worker);
  await new Promise((resolve) => worker.stderr.once("data", resolve));
  await serving(scene, false, async (ingest) => {
    const full = await ingest(0, seconds);
    const rate = full.stored / full.seconds / 2;
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const without = await ingest(rate, seconds);
      await owner.query("truncate feature_row; truncate feature_tally");
      const run = await beginBackfill();
      const withBackfill = await ingest(rate, seconds);
      const isRunning = (await owner.query("select from feature_run where state = 'running'")).rowCount;
      if (isRunning) await cancelBackfill(run);
      else print("the backfill ended early: use more --events");
      print(JSON.stringify({ p99Ms: [without.p99Ms, withBackfill.p99Ms] }));
      ratios.push(withBackfill.p99Ms / without.p99Ms);
    }
    row("half load: p99 of ingestion next to a backfill ÷ without", median(ratios).toFixed(2), "≤ 1.5");
  });
  worker.kill("SIGTERM");
  await new Promise((resolve) => worker.once("exit", resolve));
  await retire(names);
}
