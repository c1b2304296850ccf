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
    select day::date, feature, platform, sdk_version, state, bin, count(*)
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
        as counted (day, feature, platform, sdk_version, state, bin)
      -- In one order: transactions that count the same do not wait for each other in a circle.
      group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
    on conflict (day, feature, platform, sdk_version, state, bin)
      do update set occurrences = feature_tally.occurrences + excluded.occurrences`,
  ["text[]", "text[]", "text[]", "text[]", "text[]", "text[]"],
);

export async function addToTally(transaction: Transaction, counted: readonly TallyKey[]): Promise<void> {
  if (counted.length === 0) return;
  await query(transaction, ADD, [
    counted.map(({ receivedAt }) => new Date(receivedAt).toISOString().slice(0, 10)),
    counted.map(({ feature }) => feature),
    counted.map(({ platform }) => platform),
    counted.map(({ sdkVersion }) => sdkVersion),
    counted.map(({ state }) => state),
    counted.map(({ bin }) => bin),
  ]);
}
