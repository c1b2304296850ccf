import type { Input } from "@device-risk-signals/admin-api";
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

const rangeOf = ({ from, to }: Pick<Input<"listOutcomes">, "from" | "to">): TimeRange => ({
  ...(from !== undefined && { from: Date.parse(from) }),
  ...(to !== undefined && { to: Date.parse(to) }),
});
