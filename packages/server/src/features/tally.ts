/** Counts of features by day, which name no account and no event. */
import type { Output, Result } from "@device-risk-signals/features";
import type { Transaction } from "../postgres/executor.ts";
import { query, sql } from "../postgres/statement.ts";

/** The group of an observed value in tallies; empty for other states. */
export function binOf(output: Output, result: Result): string {
  if (result.state !== "observed") return "";
  const { value } = result;
  if (!("bins" in output) || typeof value !== "number") return String(value);
  const lower = output.bins.findLast((bin) => bin <= value);
  return lower === undefined ? `below ${output.bins[0] ?? ""}`.trim() : String(lower);
}

export interface TallyKey {
  /** When the event was received: milliseconds since the Unix epoch. */
  readonly receivedAt: number;
  readonly feature: string;
  readonly platform: string;
  readonly sdkVersion: string;
  readonly state: string;
  readonly bin: string;
}

const ADD = sql(
  `insert into feature_tally (day, feature, platform, sdk_version, state, bin, occurrences)
    select day::date, feature, platform, sdk_version, state, bin, occurrences
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int8[])
        as counted (day, feature, platform, sdk_version, state, bin, occurrences)
      -- In one order: transactions that count the same do not wait for each other in a circle.
      order by 1, 2, 3, 4, 5, 6
    on conflict (day, feature, platform, sdk_version, state, bin)
      do update set occurrences = feature_tally.occurrences + excluded.occurrences`,
  ["text[]", "text[]", "text[]", "text[]", "text[]", "text[]", "int8[]"],
);

type CountedKey = readonly [
  day: string,
  feature: string,
  platform: string,
  sdkVersion: string,
  state: string,
  bin: string,
];

export async function addToTally(transaction: Transaction, keys: readonly TallyKey[]): Promise<void> {
  if (keys.length === 0) return;
  const counts = countEach(keys);
  const columns = [...counts.keys()].map((key) => JSON.parse(key) as CountedKey);
  await query(transaction, ADD, [
    columns.map(([day]) => day),
    columns.map(([, feature]) => feature),
    columns.map(([, , platform]) => platform),
    columns.map(([, , , sdkVersion]) => sdkVersion),
    columns.map(([, , , , state]) => state),
    columns.map(([, , , , , bin]) => bin),
    [...counts.values()],
  ]);
}

/** How often each key occurs: a batch has many events of one day, platform and version. */
function countEach(keys: readonly TallyKey[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { receivedAt, feature, platform, sdkVersion, state, bin } of keys) {
    const day = new Date(receivedAt).toISOString().slice(0, 10);
    const key = JSON.stringify([day, feature, platform, sdkVersion, state, bin] satisfies CountedKey);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
