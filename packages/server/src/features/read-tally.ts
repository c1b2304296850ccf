/** Reads the counts of a feature's results. */
import type { Executor } from "../store/postgres/executor.ts";
import { query, sql } from "../store/postgres/statement.ts";
import type { ResultCount } from "./counted-results.ts";
import { SMALL } from "./confusion.ts";
import type { FeatureName } from "./decisions.ts";

/** Clients choose the texts of SDK versions, so there can be many groups. */
export const MAX_GROUPS = 50;

/** Days in UTC, such as `2027-01-31`. */
export interface Days {
  readonly from: string;
  /** The day after the last one. */
  readonly to: string;
}

export interface Grouping {
  readonly byPlatform: boolean;
  readonly bySdkVersion: boolean;
}

export interface CountedGroup {
  readonly platform: string | null;
  readonly sdk_version: string | null;
  readonly counts: readonly ResultCount[];
}

export interface CountedDay {
  readonly day: string;
  readonly counts: readonly ResultCount[];
}

const LIST_GROUPS = sql(
  `with counted as (
     select case when $4 then platform end as platform, case when $5 then sdk_version end as sdk_version,
            state, bin, sum(occurrences)::int8 as occurrences
       from feature_tally where feature = $1 and day >= $2 and day < $3
      group by 1, 2, 3, 4 having sum(occurrences) > 0),
   sized as (
     select platform, sdk_version, state, bin, occurrences,
            (sum(occurrences) over (partition by platform, sdk_version))::int8 as size
       from counted),
   ranked as (
     select platform, sdk_version, state, bin, occurrences,
            dense_rank() over (order by size desc, platform, sdk_version) as place
       from sized where size >= $6)
   select platform, sdk_version, state, bin, occurrences, place from ranked
    where place <= $7 order by place, state, bin`,
  ["text", "date", "date", "bool", "bool", "int8", "int8"],
  { platform: "text?", sdk_version: "text?", state: "text", bin: "text", occurrences: "int8", place: "int8" },
);

/** The groups with at least 10 events, the largest ones first. `isLimited`: whether there are more than 50. */
export async function listCountedGroups(
  executor: Executor,
  feature: FeatureName,
  { from, to }: Days,
  { byPlatform, bySdkVersion }: Grouping,
): Promise<{ readonly groups: readonly CountedGroup[]; readonly isLimited: boolean }> {
  const parameters = [feature, from, to, byPlatform, bySdkVersion, SMALL, MAX_GROUPS + 1] as const;
  const { rows } = await query(executor, LIST_GROUPS, parameters);
  const all = [...Map.groupBy(rows, ({ place }) => place).values()];
  const groups = all.slice(0, MAX_GROUPS).map((counts) => {
    const { platform = null, sdk_version = null } = counts[0] ?? {};
    return { platform, sdk_version, counts };
  });
  return { groups, isLimited: all.length > MAX_GROUPS };
}

const LIST_DAYS = sql(
  `select day::text as day, state, bin, sum(occurrences)::int8 as occurrences
     from feature_tally where feature = $1 and day >= $2 and day < $3
    group by 1, 2, 3 having sum(occurrences) > 0 order by 1, 2, 3`,
  ["text", "date", "date"],
  { day: "text", state: "text", bin: "text", occurrences: "int8" },
);

export async function listCountedDays(
  executor: Executor,
  feature: FeatureName,
  { from, to }: Days,
): Promise<readonly CountedDay[]> {
  const { rows } = await query(executor, LIST_DAYS, [feature, from, to]);
  return [...Map.groupBy(rows, ({ day }) => day)].map(([day, counts]) => ({ day, counts }));
}
