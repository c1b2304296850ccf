/** Sums of counts over a range of hours: what a page shows at once, and the lists by hour show in many pages. */
import { MAX_REJECTION_SUMS, MAX_SUMMARY_ROWS, type OutcomeGroup } from "@device-risk-signals/admin-api";
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { query, sql } from "../../store/postgres/statement.ts";

/** Times in RFC 3339: hours that begin at `from` or later, and before `to`. */
export interface Hours {
  readonly from: string;
  readonly to: string;
}

export interface OutcomeSelection extends Hours {
  readonly by: OutcomeGroup;
  readonly platform?: string | undefined;
  readonly sdkVersion?: string | undefined;
  readonly probe?: string | undefined;
}

const SUM_OUTCOMES = sql(
  `select case $3::text
      when 'sdk_version' then sdk_version
      when 'os' then platform || ' ' || coalesce(nullif(os_major, ''), 'unknown')
      when 'platform' then platform
      else to_char(hour at time zone 'UTC', 'YYYY-MM-DD') end as "group",
    probe, state, sum(occurrences)::int8 as occurrences
  from probe_outcome
  where hour >= $1 and hour < $2
    and ($4::text is null or platform = $4) and ($5::text is null or sdk_version = $5)
    and ($6::text is null or probe = $6)
  group by 1, 2, 3 order by 1, 2, 3 limit ${MAX_SUMMARY_ROWS + 1}`,
  ["timestamptz", "timestamptz", "text", "text?", "text?", "text?"],
  { group: "text", probe: "text", state: "text", occurrences: "int8" },
);

/** @returns one row more than the maximum if there are more. */
export async function sumOutcomes(executor: Executor, { from, to, by, platform, sdkVersion, probe }: OutcomeSelection) {
  return (await query(executor, SUM_OUTCOMES, [from, to, by, platform ?? null, sdkVersion ?? null, probe ?? null]))
    .rows;
}

const SUM_REJECTIONS = sql(
  `select problem, nullif(violation, '') as violation, nullif(place, '') as place,
    nullif(sdk_version, '') as sdk_version, occurrences, ${instant("first_hour")}, ${instant("last_hour")}
  from (select problem, violation, place, sdk_version, sum(occurrences)::int8 as occurrences,
      min(hour) as first_hour, max(hour) as last_hour
    from rejection where hour >= $1 and hour < $2 group by 1, 2, 3, 4) summed
  order by summed.occurrences desc, 1, 2, 3, 4 limit ${MAX_REJECTION_SUMS + 1}`,
  ["timestamptz", "timestamptz"],
  {
    problem: "text",
    violation: "text?",
    place: "text?",
    sdk_version: "text?",
    occurrences: "int8",
    first_hour: "text",
    last_hour: "text",
  },
);

/** @returns one row more than the maximum if there are more. */
export async function sumRejections(executor: Executor, { from, to }: Hours) {
  return (await query(executor, SUM_REJECTIONS, [from, to])).rows;
}
