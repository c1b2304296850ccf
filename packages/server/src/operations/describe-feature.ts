import type { Input } from "@device-risk-signals/admin-api";
import { OperatorError } from "../base/errors/operator-error.ts";
import { showResults } from "../features/counted-results.ts";
import { findManifests, listVersions } from "../features/decisions.ts";
import { type Days, type Grouping, listCountedDays, listCountedGroups } from "../features/read-tally.ts";
import { invalid } from "./input.ts";
import type { Operation } from "./operation.ts";

const DAY_MS = 86_400_000;
/** The period if the caller gives no start: three months are enough to see a change. */
const DEFAULT_DAYS = 90;
const MAX_DAYS = 366;

export const describeFeature: Operation<"describeFeature", "clock" | "pool"> = async ({ ports, input }) => {
  const { pool, clock } = ports;
  const { feature, by } = input;
  const days = daysOf(input, clock.now());
  const [manifest] = await findManifests(pool, [feature]);
  if (!manifest) {
    throw new OperatorError("not-found", `No version ${feature} was proposed: see drs feature decisions.`);
  }
  const { id, meaning, falseReadings, owner, hash, purposes, inputs, output } = manifest;
  const { groups, isLimited } = await listCountedGroups(pool, feature, days, groupingOf(by));
  const perDay = await listCountedDays(pool, feature, days);
  return {
    answer: {
      feature,
      meaning,
      false_readings: [...falseReadings],
      owner,
      hash,
      purposes: [...purposes],
      versions: [...(await listVersions(pool, id))],
      inputs: inputs.map(({ name, path, type, unit = null, sensitivity }) => {
        return { name, field: path.join("."), type, unit, sensitivity };
      }),
      output: output.type,
      unit: "unit" in output ? output.unit : null,
      ...days,
      is_limited: isLimited,
      groups: groups.map(({ platform, sdk_version, counts }) => {
        return { platform, sdk_version, ...showResults(output, counts) };
      }),
      days: perDay.map(({ day, counts }) => ({ day, ...showResults(output, counts) })),
    },
    audit: { detail: { feature, ...days, ...(by !== undefined && { by }) } },
  };
};

/**
 * The days that are counted, from the start of the day of `from` to that of `to`, so that no answer is about a part of a
 * day. Default: 90 days that end today.
 * @throws AdminError request-invalid
 */
function daysOf({ from, to }: Pick<Input<"describeFeature">, "from" | "to">, now: number): Days {
  const end = to === undefined ? startOfDay(now) + DAY_MS : startOfDay(Date.parse(to));
  const start = from === undefined ? end - DEFAULT_DAYS * DAY_MS : startOfDay(Date.parse(from));
  if (start >= end) throw invalid("query/from", "must be at least a day before the end");
  if (end - start > MAX_DAYS * DAY_MS) throw invalid("query/from", `must be at most ${MAX_DAYS} days before the end`);
  return { from: dateOf(start), to: dateOf(end) };
}

const startOfDay = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;
const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

function groupingOf(by: Input<"describeFeature">["by"]): Grouping {
  const names = by?.split(",") ?? [];
  return { byPlatform: names.includes("platform"), bySdkVersion: names.includes("sdk_version") };
}
