/** The backfill of one worker, next to that of the two peers. */
import { openRunner } from "@device-risk-signals/features/runner";
import { findBundles } from "../../../packages/server/src/features/decisions.ts";
import { LayerRunners } from "../../../packages/server/src/features/layer-runners.ts";
import { median } from "../median.ts";
import { print } from "../scene.ts";
import { cpuOf } from "../usage.ts";
import type { FeatureScene } from "./feature-scene.ts";
import { COMMITTED_EVENTS, eventsLostByCursor, firstPeer, secondPeer } from "./peers.ts";
import { row } from "./table.ts";

/** @returns events per second. */
async function ownEventsPerSecond(scene: FeatureScene, runners: LayerRunners, events: number): Promise<number> {
  const { owner, system } = scene;
  await owner.query("truncate feature_row; truncate feature_tally; analyze event");
  system.sealer.evictKeys(Date.now());
  system.featureSealer.forgetKeys();
  await scene.beginBackfill();
  const started = performance.now();
  await scene.runBackfills(runners);
  const seconds = (performance.now() - started) / 1_000;
  const { rows: found } = await owner.query<{ rows: number }>("select count(*)::int as rows from feature_row");
  if (found[0]?.rows !== events) throw new Error(`${found[0]?.rows} rows of ${events} events`);
  return events / seconds;
}

/** @param events the number of events in the database. */
export async function measureBackfill(scene: FeatureScene, events: number, rounds: number): Promise<void> {
  const { owner, system, names, postmaster } = scene;
  /** CPU time in microseconds of this process, the process of the programs and PostgreSQL. */
  const cpu = (): number => cpuOf(process.pid) + cpuOf(postmaster);
  const bundles = await findBundles(system.pool, names);
  const runner = await openRunner(bundles, { budgetMs: 50 });
  const runners = new LayerRunners({ budgetMs: 50 });
  const speeds: { ours: number; first: number; second: number; bytes: number; cpu: number; cpuOfSecond: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const first = await firstPeer(owner, runner, names);
    const before = cpu();
    const [second, bytes] = await secondPeer(owner, runner, names);
    const between = cpu();
    const own = await ownEventsPerSecond(scene, runners, events);
    const [cpuOfSecond, ownCpu] = [(between - before) / events, (cpu() - between) / events];
    speeds.push({ ours: own, first, second, bytes, cpu: ownCpu, cpuOfSecond });
    print(JSON.stringify(speeds.at(-1)));
  }
  await runner.close();
  await runners.close();
  const speed = (of: (one: (typeof speeds)[number]) => number): number => median(speeds.map(of));
  row(
    `events that the id cursor of the peers misses, of ${COMMITTED_EVENTS}`,
    String(await eventsLostByCursor(owner, system.pool)),
  );
  row(
    `backfill of ${events} events, ${names.length} features, one worker, events/s`,
    speed((one) => one.ours).toFixed(0),
    "≥ 3,000",
  );
  row("÷ a statement for each value", speed((one) => one.ours / one.first).toFixed(1), "≥ 5");
  row("÷ a row for each value, batched", speed((one) => one.ours / one.second).toFixed(1), "≥ 2");
  row("CPU of an event, µs: all processes", speed((one) => one.cpu).toFixed(0));
  row("CPU of an event, µs, with a row for each value, batched", speed((one) => one.cpuOfSecond).toFixed(0));

  const { rows: sizes } = await owner.query<{ bytes: string }>(
    "select sum(pg_total_relation_size(inhrelid)) as bytes from pg_inherits where inhparent = 'feature_row'::regclass",
  );
  row("bytes of an event, indexes included", (Number(sizes[0]?.bytes) / events).toFixed(0), "≤ 650");
  row("bytes of an event with a row for each value", speed((one) => one.bytes).toFixed(0));
}
