/** Counts the events that people have opened in the last 24 hours, by their audit entries. */
import type { Executor } from "../postgres/executor.ts";
import { query, sql } from "../postgres/statement.ts";
import { obtainerSql, personSql } from "./actor-persons.ts";

/** Operations that show the payload of the event that their entry names. `reveal_event` allows only these. */
export const OPENING_OPERATIONS = ["event.read_raw", "event.read_observations", "event.compare"] as const;

/** The number of events that a person opened under one approval, or without one. */
export interface OpenedEvents {
  readonly approval_id: string | null;
  /** Each event is counted once. */
  readonly events: number;
  /** Whether the event that the caller asks about is among them. */
  readonly has_event: boolean;
}

const COUNT_OPENED = sql(
  `select approval_id, count(distinct event_id) as events, bool_or(event_id = $3) as has_event from audit_entry
    where via in ('api', 'console', 'cli') and ${personSql("actor")} = any ($1)
      -- guard(true): events that another person opened with a token of their own are not counted
      -- fails: packages/server/src/admin/cases.test.ts › a token that the person obtained
      and (${personSql("actor")} = any ($4) or ${obtainerSql("actor")} = any ($4))
      and at > transaction_time() - interval '24 hours' and operation = any ($2) and outcome = 'done'
    group by approval_id`,
  ["text[]", "text[]", "uuid", "text[]"],
  { approval_id: "uuid?", events: "int8", has_event: "bool" },
);

/** The persons and tokens whose opened events are counted together. */
export interface Openers {
  readonly persons: readonly string[];
  /** The persons of the admin tokens that `persons` obtained. */
  readonly tokenPersons: readonly string[];
}

export async function countOpenedEvents(
  executor: Executor,
  { persons, tokenPersons }: Openers,
  eventId: string,
): Promise<readonly OpenedEvents[]> {
  const allPersons = [...new Set([...persons, ...tokenPersons])];
  return (await query(executor, COUNT_OPENED, [allPersons, [...OPENING_OPERATIONS], eventId, [...persons]])).rows;
}
