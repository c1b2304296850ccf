/** Reads what the audit knows about one idempotency key. */
import { receivedAtOf } from "../store/events/read-events.ts";
import { findKeyHolder } from "../store/events/ledger.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { query, sql } from "../store/postgres/statement.ts";
import type { NamedAccount } from "./audit-signer.ts";
import { BATCH_WITHIN, MAX_NAMED } from "./audit.ts";

/** An entry that names the event of the idempotency key. */
export interface TimelineEntry {
  /**
   * The time at which the entry was written. For retries and warnings, it is usually a second or less after the last
   * one.
   */
  readonly at: string;
  /** `accepted`, `replayed`, `idempotency-conflict`, or an event warning. */
  readonly outcome: string;
  /** Requests that the entry counts. */
  readonly occurrences: number;
  /**
   * The number of events that the entry names. If there are several, `occurrences` counts the requests of all of them.
   */
  readonly events: number;
}

/** Replays and conflicts of the account in entries that name the maximum number of events, but not this event. */
export interface UnnamedRetries {
  readonly entries: number;
  /** The number of requests. Some of these requests may have this key, but it is unknown which ones. */
  readonly occurrences: number;
}

export interface Timeline {
  readonly event_id: string;
  /** The entries, oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** Whether there are more entries than the limit. */
  readonly more: boolean;
  readonly unnamed: UnnamedRetries;
}

const LIST_ENTRIES = sql(
  `select ${instant("a.at", "at")}, a.outcome,
        case when a.subjects is null then a.occurrences else 1 end as occurrences,
        case when a.subjects is null then coalesce(cardinality(a.event_ids), 1) else 1 end as events
      from shown_entry a
      where a.operation = 'event.create' and (a.event_id = $1
        or (a.subjects is null and a.event_ids @> array[$1::uuid])
        or (a.subjects is not null and a.at between $2::timestamptz and $2::timestamptz + interval '${BATCH_WITHIN}'
          and a.event_ids @> array[$1::uuid]))
      order by a.at, a.entry_id limit $3`,
  ["uuid", "timestamptz", "int8"],
  { at: "text", outcome: "text", occurrences: "int8", events: "int4" },
);

const COUNT_UNNAMED = sql(
  `select count(*) as entries, coalesce(sum(occurrences), 0)::int8 as occurrences from shown_entry
      where subject = $1 and at >= $3 and operation = 'event.create'
        and outcome in ('replayed', 'idempotency-conflict')
        and cardinality(event_ids) >= ${MAX_NAMED} and not event_ids @> array[$2::uuid]`,
  ["bytea", "uuid", "timestamptz"],
  { entries: "int8", occurrences: "int8" },
);

/**
 * Finds the event that holds an idempotency key, and the entries of the audit about its creation, its replays and its
 * conflicts. The audit groups retries, so an entry may count the retries of several events. Each entry has the number
 * of its events.
 * @param limit maximum number of entries.
 * @returns `undefined` if no event holds the key: no event was stored with it, the event was erased, or the replay
 * window is over.
 */
export async function timelineOfIdempotencyKey(
  executor: Executor,
  { name: account, subject }: NamedAccount,
  key: string,
  limit: number,
): Promise<Timeline | undefined> {
  const eventId = await findKeyHolder(executor, account, key);
  if (eventId === undefined) return undefined;
  const receivedAt = receivedAtOf(eventId).toISOString();
  const { rows: entries } = await query(executor, LIST_ENTRIES, [eventId, receivedAt, limit + 1]);
  const { rows: unnamed } = await query(executor, COUNT_UNNAMED, [subject, eventId, receivedAt]);
  return {
    event_id: eventId,
    entries: entries.slice(0, limit),
    more: entries.length > limit,
    unnamed: unnamed[0] ?? { entries: 0, occurrences: 0 },
  };
}
