/** Events whose features of a layer could not be computed, or not all of them. */
import type { Executor, OwnerTransaction, Transaction } from "../store/postgres/executor.ts";
import { query, sql } from "../store/postgres/statement.ts";
import type { DueEvent } from "./extraction-due.ts";

/**
 * `unreadable`: the event can't be opened; `not-json`: it is no event; `time-limit`: the event has a row, in which at
 * least one feature failed because of its time, so that a backfill computes it again; `error`: the event failed
 * repeatedly, or a program of the layer can't be loaded.
 */
export type FailureReason = "unreadable" | "not-json" | "time-limit" | "error";

export interface ExtractionFailure {
  readonly event: DueEvent;
  readonly layer: number;
  readonly reason: FailureReason;
}

const FIND = sql(
  "select event_id, layer, reason from extraction_failure where event_id = any ($1::uuid[])",
  ["uuid[]"],
  { event_id: "uuid", layer: "int4", reason: "text" },
);

/** Finds the reasons why the features of events could not be computed, by event and layer. */
export async function findFailures(
  executor: Executor,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<number, string>>> {
  const found = new Map<string, Map<number, string>>();
  for (const { event_id, layer, reason } of (await query(executor, FIND, [eventIds])).rows) {
    found.set(event_id, (found.get(event_id) ?? new Map<number, string>()).set(layer, reason));
  }
  return found;
}

const INSERT = sql(
  `insert into extraction_failure (event_id, layer, purpose, received_at, reason)
    select * from unnest($1::uuid[], $2::int4[], $3::int4[], $4::timestamptz[], $5::text[]) order by 1, 2
    on conflict do nothing`,
  ["uuid[]", "int4[]", "int4[]", "timestamptz[]", "text[]"],
);

export async function recordFailures(transaction: Transaction, failures: readonly ExtractionFailure[]): Promise<void> {
  if (failures.length === 0) return;
  await query(transaction, INSERT, [
    failures.map(({ event }) => event.eventId),
    failures.map(({ layer }) => layer),
    failures.map(({ event }) => event.purpose),
    failures.map(({ event }) => new Date(event.receivedAt).toISOString()),
    failures.map(({ reason }) => reason),
  ]);
}

const DELETE_FORMER = sql(
  `delete from extraction_failure x using unnest($1::uuid[], $2::int4[]) computed (event_id, layer)
    where x.event_id = computed.event_id and x.layer = computed.layer`,
  ["uuid[]", "int4[]"],
);

/** Deletes the earlier failures of events that were computed again. */
export async function deleteFormer(
  transaction: Transaction,
  computed: readonly { readonly eventId: string; readonly layer: number }[],
): Promise<void> {
  if (computed.length === 0) return;
  await query(transaction, DELETE_FORMER, [computed.map(({ eventId }) => eventId), computed.map(({ layer }) => layer)]);
}

const DELETE_OF_EVENTS = sql("delete from extraction_failure where event_id = any ($1::uuid[])", ["uuid[]"]);

/** Deletes the failures of erased events. */
export async function deleteFailures(executor: OwnerTransaction, eventIds: readonly string[]): Promise<void> {
  await query(executor, DELETE_OF_EVENTS, [eventIds]);
}
