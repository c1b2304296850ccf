/** Counts of features by day, which name no account and no event. */
import type { Output, Result } from "@device-risk-signals/features";
import type { Transaction } from "../store/postgres/executor.ts";
import { query, sql } from "../store/postgres/statement.ts";
import type { FeatureName } from "./decisions.ts";

const DAY_MS = 86_400_000;

/** The group of an observed value in tallies; empty for other states. */
export function binOf(output: Output, result: Result): string {
  if (result.state !== "observed") return "";
  const { value } = result;
  if (!("bins" in output) || typeof value !== "number") return String(value);
  const lower = output.bins.findLast((bin) => bin <= value);
  return lower === undefined ? `below ${output.bins[0] ?? ""}`.trim() : String(lower);
}

/** A feature whose results are counted. */
export interface CountedFeature {
  readonly name: FeatureName;
  readonly output: Output;
}

/** The results of one event. */
export interface CountedEvent {
  /** When the event was received: milliseconds since the Unix epoch. */
  readonly receivedAt: number;
  readonly platform: string;
  readonly sdkVersion: string;
  readonly features: readonly CountedFeature[];
  /** In the order of `features`. */
  readonly results: readonly Result[];
  /** The features whose counts include this event. */
  readonly counted: ReadonlySet<FeatureName>;
  /** -1 for results that others replace. Default: 1. */
  readonly times?: 1 | -1;
}

const ADD = sql(
  `insert into feature_tally (day, feature, platform, sdk_version, state, bin, occurrences)
    select day::date, feature, platform, sdk_version, state, bin, occurrences
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int8[])
        as counted (day, feature, platform, sdk_version, state, bin, occurrences)
      -- Sorted, so that transactions that count the same features cause no deadlock.
      order by 1, 2, 3, 4, 5, 6
    on conflict (day, feature, platform, sdk_version, state, bin)
      do update set occurrences = feature_tally.occurrences + excluded.occurrences`,
  ["text[]", "text[]", "text[]", "text[]", "text[]", "text[]", "int8[]"],
);

export async function addToTally(transaction: Transaction, events: readonly CountedEvent[]): Promise<void> {
  const counts = events.length === 0 ? [] : countEach(events);
  if (counts.length === 0) return;
  await query(transaction, ADD, [
    counts.map(({ group }) => group.day),
    counts.map(({ feature }) => feature),
    counts.map(({ group }) => group.platform),
    counts.map(({ group }) => group.sdkVersion),
    counts.map(({ state }) => state),
    counts.map(({ bin }) => bin),
    counts.map(({ occurrences }) => occurrences),
  ]);
}

/** The events of one day, platform and SDK version. A batch has few such groups. */
interface Group {
  readonly day: string;
  readonly platform: string;
  readonly sdkVersion: string;
  /** Occurrences by feature, state and bin. */
  readonly features: Map<FeatureName, Map<string, Map<string, number>>>;
}

interface Count {
  readonly group: Group;
  readonly feature: FeatureName;
  readonly state: string;
  readonly bin: string;
  readonly occurrences: number;
}

function countEach(events: readonly CountedEvent[]): readonly Count[] {
  const groups = new Map<string, Group>();
  for (const event of events) {
    const { features } = groupOf(groups, event);
    for (const [index, { name, output }] of event.features.entries()) {
      const result = event.results[index];
      if (!result || !event.counted.has(name)) continue;
      const states = entryOf(features, name, () => new Map<string, Map<string, number>>());
      const bins = entryOf(states, result.state, () => new Map<string, number>());
      const bin = binOf(output, result);
      bins.set(bin, (bins.get(bin) ?? 0) + (event.times ?? 1));
    }
  }
  return [...groups.values()].flatMap((group) =>
    [...group.features].flatMap(([feature, states]) =>
      [...states].flatMap(([state, bins]) =>
        [...bins].map(([bin, occurrences]) => ({ group, feature, state, bin, occurrences })),
      ),
    ),
  );
}

function groupOf(groups: Map<string, Group>, { receivedAt, platform, sdkVersion }: CountedEvent): Group {
  const day = Math.floor(receivedAt / DAY_MS);
  return entryOf(groups, JSON.stringify([day, platform, sdkVersion]), () => ({
    day: new Date(day * DAY_MS).toISOString().slice(0, 10),
    platform,
    sdkVersion,
    features: new Map(),
  }));
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
