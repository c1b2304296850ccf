/** Latencies of reads of the admin API, on the database of `filled-server.ts`. */
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { AdminClient } from "../../packages/admin-api/src/client.ts";
import { figureLine, print } from "./scene.ts";

const PAGE_SIZE = 50;
/** The server allows a person 50 requests a second. */
const INTERVAL_MS = 25;
/** Maximum time for one figure. On a slow machine the figure has fewer reads. */
const MAX_MEASURING_MS = 10_000;
/** Goals for p95, in milliseconds. */
const LIST_GOAL = 25;
const OPENED_GOAL = 40;
export const CASE_REASON = {
  category: "fraud-investigation",
  ticket: "BENCH-1",
  reason: "measured by the bench",
} as const;

/** Each list that an index serves. @param index the number of the read: reads have different values. */
const LISTS: Readonly<Record<string, (index: number) => object>> = {
  everything: () => ({}),
  "an account": (index) => ({ account: `account-${index % 9_999}` }),
  "an action": (index) => ({ action_id: `action-${(index % 100) + 1}` }),
  "an action type": (index) => ({ action_type: `type-${index % 50}` }),
  "an SDK version": (index) => ({ sdk_version: `1.0.${index % 60}` }),
};

export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

/**
 * Makes calls one at a time, at a steady rate, until the time limit of one figure, and prints their p95.
 * @param goal in milliseconds.
 */
async function measure(what: string, goal: number, reads: number, call: (index: number) => unknown): Promise<void> {
  const latenciesMs: number[] = [];
  const end = performance.now() + MAX_MEASURING_MS;
  for (let index = 0; index < reads && performance.now() < end; index++) {
    const started = performance.now();
    await call(index);
    const took = performance.now() - started;
    latenciesMs.push(took);
    await sleep(Math.max(0, INTERVAL_MS - took));
  }
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  print(
    figureLine(`${what}, p95 (p50 ${percentile(sorted, 0.5).toFixed(1)} ms)`, percentile(sorted, 0.95), "ms", goal),
  );
}

/** Measures the first page of each list and one from the middle of the stored time. */
export async function measureLists(client: AdminClient, owner: pg.Client, reads: number): Promise<void> {
  await analyzeCurrentPartition(owner);
  const { rows } = await owner.query<{ to: Date }>(
    "select percentile_disc(0.5) within group (order by lower_bound) as to from event_partition",
  );
  const pages = { first: {}, middle: { to: rows[0]?.to.toISOString() ?? "" } };
  for (const [what, filter] of Object.entries(LISTS)) {
    for (const [where, span] of Object.entries(pages)) {
      await measure(`${PAGE_SIZE} of ${what}, ${where} page`, LIST_GOAL, reads, (index) =>
        client.call("listEvents", { ...filter(index), ...span, limit: PAGE_SIZE }),
      );
    }
  }
}

/** Measures the opening of events that were sent to the server, with the audit entry that precedes it. */
export async function measureOpened(client: AdminClient, account: string, reads: number): Promise<void> {
  const { case_id } = await client.call("openCase", { ...CASE_REASON, account });
  const { events } = await client.call("listEvents", { account, limit: Math.min(reads, 200) });
  await measure("an opened event with its audit entry", OPENED_GOAL, reads, (index) =>
    client.call("readExactEvent", { event_id: events[index % events.length]?.event_id ?? "", case_id }),
  );
}

/** Analyses the partition that ingestion fills, as autovacuum does a minute after its first events. */
async function analyzeCurrentPartition(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ table_name: string }>(
    "select table_name from event_partition where lower_bound <= now() and now() < upper_bound",
  );
  for (const { table_name } of rows) await owner.query(`analyze ${table_name}`);
}
