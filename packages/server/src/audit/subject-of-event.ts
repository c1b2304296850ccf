import { receivedAtOf } from "../store/events/read-events.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { query, sql } from "../store/postgres/statement.ts";
import { BATCH_WITHIN } from "./audit.ts";

const FIND_SUBJECT = sql(
  `select named.subject from shown_entry a, unnest(a.subjects, a.event_ids) as named (subject, event_id)
    where a.operation = 'event.create' and a.subjects is not null
      and a.at between $2::timestamptz and $2::timestamptz + interval '${BATCH_WITHIN}'
      and a.event_ids @> array[$1::uuid] and named.event_id = $1
    limit 1`,
  ["uuid", "timestamptz"],
  { subject: "bytea" },
);

/**
 * The keyed MAC of an event's account, from the entry about its storage. An erasure deletes all other data that links
 * the event to the account.
 * @returns `undefined` if no entry names the event.
 */
export async function findSubjectOfEvent(executor: Executor, eventId: string): Promise<Buffer | undefined> {
  return (await query(executor, FIND_SUBJECT, [eventId, receivedAtOf(eventId).toISOString()])).rows[0]?.subject;
}
