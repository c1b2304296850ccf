import type { QueryResultRow } from "pg";
import type { Executor } from "../postgres/database.ts";
import { findPartitions, type Partition, queryPartitions } from "./partition-slices.ts";
import { receivedAtOf } from "./read-events.ts";

/** Events that an order, such as an erasure or a hold, is about. */
export type EventSubject =
  | { readonly kind: "account"; readonly account: string }
  /** What is kept of an account under one purpose, by the purpose's code. */
  | { readonly kind: "purpose"; readonly account: string; readonly purpose: number }
  | { readonly kind: "action"; readonly actionId: string }
  | { readonly kind: "event"; readonly eventId: string };

/** A condition on a table of events. */
export function conditionOf(subject: EventSubject): { readonly where: string; readonly values: readonly unknown[] } {
  switch (subject.kind) {
    case "account":
      return { where: "account = $1", values: [subject.account] };
    case "purpose":
      return { where: "account = $1 and purpose = $2", values: [subject.account, subject.purpose] };
    case "action":
      return { where: "action_id = $1", values: [subject.actionId] };
    case "event":
      return {
        where: "event_id = $1 and received_at = $2",
        values: [subject.eventId, receivedAtOf(subject.eventId).toISOString()],
      };
  }
}

/** Partitions that may hold events of a subject. */
function partitionsOf(executor: Executor, subject: EventSubject): Promise<readonly Partition[]> {
  switch (subject.kind) {
    case "account":
    case "purpose":
      return findPartitions(executor, subject);
    case "action":
      return findPartitions(executor);
    case "event": {
      const at = receivedAtOf(subject.eventId).getTime();
      return findPartitions(executor, { from: at, to: at });
    }
  }
}

/** `kept_event`: all events, erased or expired ones included; `live_event`: those that may be read. */
type View = "kept_event" | "live_event";

export interface EventSearch {
  readonly view: View;
  readonly partitions: readonly Partition[];
  /** What is asked of each partition, and of the copies that holds keep. */
  readonly select: string;
  readonly where: string;
  readonly groupBy?: string;
  readonly values: readonly unknown[];
}

/** Runs a query on each partition of a search and on the copies that holds keep; aggregates are left to the caller. */
export async function* searchEvents<Row extends QueryResultRow>(
  executor: Executor,
  { view, partitions, select, where, groupBy, values }: EventSearch,
): AsyncGenerator<Row> {
  const rest = groupBy === undefined ? "" : ` group by ${groupBy}`;
  const query = (part: string): string => `select ${select} from ${view} where ${part} and ${where}${rest}`;
  yield* queryPartitions<Row>(executor, partitions, values, (within) => query(within(view, "view")));
  yield* (await executor.query<Row>(query("partition_purpose = -1"), values)).rows;
}

/** The same for all events of a subject. */
export async function* searchSubject<Row extends QueryResultRow>(
  executor: Executor,
  subject: EventSubject,
  search: Pick<EventSearch, "view" | "select" | "groupBy"> & { readonly where?: string },
): AsyncGenerator<Row> {
  const { where, values } = conditionOf(subject);
  const conditions = search.where === undefined ? where : `${where} and ${search.where}`;
  const partitions = await partitionsOf(executor, subject);
  yield* searchEvents<Row>(executor, { ...search, partitions, where: conditions, values });
}

/** Copies are sealed under a hold's key; all else is erased with the key that it is sealed under. */
const NOT_ERASED = "(hold_id is not null or not is_erased(key_id))";

/** Events of a subject that are not erased, expired ones that are not deleted yet included. */
export async function countStored(executor: Executor, subject: EventSubject): Promise<number> {
  return sum(searchSubject(executor, subject, { view: "kept_event", select: "count(*) as events", where: NOT_ERASED }));
}

export async function countLive(executor: Executor, subject: EventSubject): Promise<number> {
  return sum(searchSubject(executor, subject, { view: "live_event", select: "count(*) as events" }));
}

async function sum(counts: AsyncGenerator<{ events: number }>): Promise<number> {
  let total = 0;
  for await (const { events } of counts) total += events;
  return total;
}

export interface SubjectCounts {
  /** Events that are not erased and that no hold covers. */
  readonly events: number;
  /** Events that are not erased and that a hold covers. */
  readonly held: number;
  /** Copies of erased events that a hold keeps. */
  readonly still_held: number;
  /** Copies of erased events whose hold has ended: the next retention pass deletes them. */
  readonly released: number;
}

export async function countByHold(executor: Executor, subject: EventSubject): Promise<SubjectCounts> {
  const select =
    "erased_by is not null as erased, is_held(account, action_id, event_id) as covered, count(*) as events";
  const search = { view: "kept_event", select, where: NOT_ERASED, groupBy: "1, 2" } as const;
  const counts = { events: 0, held: 0, still_held: 0, released: 0 };
  for await (const row of searchSubject<{ erased: boolean; covered: boolean; events: number }>(
    executor,
    subject,
    search,
  )) {
    const kind = row.erased ? (row.covered ? "still_held" : "released") : row.covered ? "held" : "events";
    counts[kind] += row.events;
  }
  return counts;
}
