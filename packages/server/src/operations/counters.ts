import { type Input, MAX_DAYS, MAX_REJECTION_SUMS, MAX_SUMMARY_ROWS } from "@device-risk-signals/admin-api";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Clock } from "../base/ports.ts";
import { hourOf } from "../ingest/counters/hours.ts";
import { type Hours, sumOutcomes, sumRejections } from "../ingest/counters/sum-counts.ts";
import {
  listOutcomes as queryOutcomes,
  listRejections as queryRejections,
  type OutcomeRow,
  type RejectionRow,
  type TimeRange,
} from "../ingest/counters/list-counts.ts";
import { cursorAfter, rowOfCursor } from "./count-cursor.ts";
import type { Operation } from "./operation.ts";

const LIMIT = 50;

export const listOutcomes: Operation<"listOutcomes", "pool"> = async ({ ports, input }) => {
  const { limit = LIMIT, after, platform, probe, sdk_version: sdkVersion } = input;
  const filter = {
    ...rangeOf(input),
    ...(platform !== undefined && { platform }),
    ...(probe !== undefined && { probe }),
    ...(sdkVersion !== undefined && { sdkVersion }),
  };
  const names = ["platform", "sdk_version", "os_major", "probe", "state", "reason"] as const;
  const page = { limit, ...(after !== undefined && { after: rowOfCursor<OutcomeRow>(after, names) }) };
  const rows = await queryOutcomes(ports.pool, filter, page);
  return {
    answer: { outcomes: [...rows], next: rows.length === limit ? cursorAfter(rows.at(-1), names) : null },
    audit: { detail: { count: rows.length } },
  };
};

export const listRejections: Operation<"listRejections", "pool"> = async ({ ports, input }) => {
  const { limit = LIMIT, after, problem, sdk_version: sdkVersion } = input;
  const filter = {
    ...rangeOf(input),
    ...(problem !== undefined && { problem }),
    ...(sdkVersion !== undefined && { sdkVersion }),
  };
  const names = ["problem", "violation", "place", "sdk_version"] as const;
  const page = { limit, ...(after !== undefined && { after: rowOfCursor<RejectionRow>(after, names) }) };
  const rows = await queryRejections(ports.pool, filter, page);
  return {
    answer: { rejections: [...rows], next: rows.length === limit ? cursorAfter(rows.at(-1), names) : null },
    audit: { detail: { count: rows.length } },
  };
};

export const summarizeOutcomes: Operation<"summarizeOutcomes", "clock" | "pool"> = async ({ ports, input }) => {
  const { by, platform, probe, sdk_version: sdkVersion } = input;
  const hours = hoursOf(input, ports.clock);
  const rows = await sumOutcomes(ports.pool, { ...hours, by, platform, probe, sdkVersion });
  const outcomes = rows.slice(0, MAX_SUMMARY_ROWS);
  return {
    answer: { ...hours, outcomes, more: rows.length > outcomes.length },
    audit: { detail: { count: outcomes.length } },
  };
};

export const summarizeRejections: Operation<"summarizeRejections", "clock" | "pool"> = async ({ ports, input }) => {
  const hours = hoursOf(input, ports.clock);
  const rows = await sumRejections(ports.pool, hours);
  const rejections = rows.slice(0, MAX_REJECTION_SUMS);
  return {
    answer: { ...hours, rejections, more: rows.length > rejections.length },
    audit: { detail: { count: rejections.length } },
  };
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 7;

/** The whole hours of a summary. @throws wrong-usage if they are too many. */
function hoursOf({ from, to }: Pick<Input<"listOutcomes">, "from" | "to">, clock: Clock): Hours {
  const end = to === undefined ? clock.now() : Date.parse(to);
  // No count is older than 1970, and seven days before the year 1 are no time of the database.
  const start = Math.max(0, hourOf(from === undefined ? end - DEFAULT_DAYS * DAY_MS : Date.parse(from)));
  if (end - start > MAX_DAYS * DAY_MS + HOUR_MS) {
    throw new OperatorError("wrong-usage", `A summary has at most ${MAX_DAYS} days: choose a later start.`);
  }
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

const rangeOf = ({ from, to }: Pick<Input<"listOutcomes">, "from" | "to">): TimeRange => ({
  ...(from !== undefined && { from: Date.parse(from) }),
  ...(to !== undefined && { to: Date.parse(to) }),
});
