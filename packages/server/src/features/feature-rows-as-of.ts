/** Rows of feature values as they were at the times of labels, many at once. */
import type { Instant } from "@device-risk-signals/contract";
import { type Partition, partitionQuery, queryPartitions } from "../store/events/partition-slices.ts";
import { int4Array, textArray, timestamptzArray, uuidArray } from "../store/postgres/binary-array.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { findFeaturePartitions } from "./feature-partitions.ts";
import { type FeatureRow, ROW_COLUMNS, ROW_TYPES } from "./feature-rows.ts";

/** `account` is empty if it is not known. */
export type SubjectAsOf = { readonly account: string; readonly at: Instant } & (
  | { readonly kind: "account" }
  | { readonly kind: "action"; readonly actionId: string }
  /** @param receivedAt milliseconds since the Unix epoch. */
  | { readonly kind: "event"; readonly eventId: string; readonly receivedAt: number }
);

export interface RowsAsOf {
  readonly purpose: number;
  readonly layers: readonly number[];
  /**
   * Whether a value counts only if it was stored by the time of the label. Otherwise it counts if its event was
   * received by then.
   */
  readonly isKnown: boolean;
  /** A timestamp of PostgreSQL. Values that were stored later are not found. */
  readonly watermark: string;
  /** Which events of a subject are found. Default: the newest one. */
  readonly history?: History | undefined;
}

/** All events of a subject in a time before its label. */
export interface History {
  /** The length of this time in milliseconds. */
  readonly ms: number;
  /** At least so many of the newest events are found, if there are so many. */
  readonly maxEvents: number;
}

/** The newest event of each subject that has a row, with all of its rows. */
const asOf = (condition: string) =>
  partitionQuery(
    [
      "int4[]",
      "text[]",
      "text[]",
      "uuid[]",
      "timestamptz[]",
      "timestamptz[]",
      "timestamptz[]",
      "int4[]",
      "bool",
      "timestamptz",
      "int4",
    ],
    { place: "int4", ...ROW_TYPES },
    (within) => `select l.place, ${ROW_COLUMNS}
      from unnest($1::int4[], $2::text[], $3::text[], $4::uuid[], $5::timestamptz[], $6::timestamptz[],
            $7::timestamptz[]) as l (place, account, action_id, event_id, event_at, since, at)
        cross join lateral (select distinct m.account, m.received_at, m.event_id from (
          select n.account, n.received_at, n.event_id from unrestricted_feature n
          where ${within("n", "view")} and ${condition} and n.layer = any ($8::int4[])
            -- guard(true): no value that only a hold keeps
            and coalesce(n.received_at + (select p.derived_retention from purpose p where p.code = n.purpose), 'infinity') > transaction_time()
            -- guard(true): no event that was received after the label
            and n.received_at <= l.at
            -- guard(true): no event before the time that was asked for
            and n.received_at >= l.since
            -- guard(true): by the clock of what was known, no value that was stored after the label
            and (not $9::bool or n.extracted_at <= l.at)
            -- guard(true): no value that was stored after the export began
            and n.extracted_at <= $10::timestamptz
          order by n.received_at desc, n.event_id desc limit $11::int4) m) newest
        -- "offset 0" has this subquery planned separately, so that the rows of each label are found by their key.
        cross join lateral (select * from unrestricted_feature o
          where ${within("o", "view")} and o.account = newest.account
            and o.received_at = newest.received_at and o.event_id = newest.event_id and o.layer = any ($8::int4[])
            and (not $9::bool or o.extracted_at <= l.at) and o.extracted_at <= $10::timestamptz offset 0) f`,
  );

const SAME_ACCOUNT = "(l.account = '' or n.account = l.account)";
const FIND = {
  account: asOf("n.account = l.account"),
  action: asOf(`n.action_id = l.action_id and ${SAME_ACCOUNT}`),
  event: asOf(`n.event_id = l.event_id and n.received_at = l.event_at and ${SAME_ACCOUNT}`),
};

/**
 * Finds the rows of the newest event of each subject as of its time, or of its history, by the position of the subject
 * in the list. Reads
 * one partition at a time, newest first, so that a statement takes few locks even with many partitions.
 */
export async function findRowsAsOf(
  executor: Executor,
  subjects: readonly SubjectAsOf[],
  { purpose, layers, isKnown, watermark, history }: RowsAsOf,
): Promise<ReadonlyMap<number, readonly FeatureRow[]>> {
  const rowsByPlace = new Map<number, FeatureRow[]>();
  const to = subjects.reduce((latest, { at }) => Math.max(latest, at.epochMs), 0);
  const placed = subjects.map((subject, place) => {
    return { place, subject, since: history ? Math.max(0, subject.at.epochMs - history.ms) : 0 };
  });
  const maxEvents = history?.maxEvents ?? 1;
  // An event has at most one row in each layer.
  const maxRows = maxEvents * Math.max(1, layers.length);
  const isComplete = (place: number): boolean => {
    const rows = rowsByPlace.get(place);
    if (!rows || maxEvents === 1) return rows !== undefined;
    return new Set(rows.map(({ event_id }) => event_id)).size >= maxEvents;
  };
  for (const partition of await findFeaturePartitions(executor, { purpose, to })) {
    const open = placed.filter((one) => mayBeIn(partition, one) && !isComplete(one.place));
    for (const kind of ["account", "action", "event"] as const) {
      const of = open.filter(({ subject }) => subject.kind === kind);
      if (of.length === 0) continue;
      const values = [...valuesOf(of), layers, isKnown, watermark, maxEvents === 1 ? 1 : maxRows] as const;
      for await (const { place, ...row } of queryPartitions(executor, FIND[kind], [partition], values)) {
        const own = rowsByPlace.get(place);
        if (own) own.push(row);
        else rowsByPlace.set(place, [row]);
      }
    }
    if (rowsByPlace.size === subjects.length && placed.every(({ place }) => isComplete(place))) break;
  }
  return rowsByPlace;
}

function mayBeIn({ lower_ms, upper_ms }: Partition, { subject, since }: Placed): boolean {
  if (subject.kind !== "event") return lower_ms <= subject.at.epochMs && since < upper_ms;
  return lower_ms <= subject.receivedAt && subject.receivedAt < upper_ms;
}

const NO_EVENT = "00000000-0000-0000-0000-000000000000";

interface Placed {
  readonly place: number;
  readonly subject: SubjectAsOf;
  /** The start of its history in milliseconds; 0 = no limit. */
  readonly since: number;
}

const valuesOf = (placed: readonly Placed[]) =>
  [
    int4Array(placed.map(({ place }) => place)),
    textArray(placed.map(({ subject }) => subject.account)),
    textArray(placed.map(({ subject }) => (subject.kind === "action" ? subject.actionId : ""))),
    uuidArray(placed.map(({ subject }) => (subject.kind === "event" ? subject.eventId : NO_EVENT))),
    timestamptzArray(placed.map(({ subject }) => ({ epochMs: subject.kind === "event" ? subject.receivedAt : 0 }))),
    timestamptzArray(placed.map(({ since }) => ({ epochMs: since }))),
    timestamptzArray(placed.map(({ subject }) => subject.at)),
  ] as const;
