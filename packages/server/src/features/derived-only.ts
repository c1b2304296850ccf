/** Counts events of which only derived values are left, because the raw event has expired. */
import { type EventSubject, forSubjects, subjectValues } from "../store/events/search-events.ts";
import { partitionQuery, queryPartitions, type Within } from "../store/events/partition-slices.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { findFeaturePartitions, findPartitionsOf } from "./feature-partitions.ts";

const SAME =
  "e.account = f.account and e.purpose = f.purpose and e.received_at = f.received_at and e.event_id = f.event_id";

/** The rows `f` of feature values whose event is not kept, neither in a partition nor as a copy of a hold. */
const rowsWithoutEvent = (within: Within): string =>
  `feature_row f where ${within("f")} and not is_account_key_erased(f.key_id)
    and not exists (select 1 from kept_event e where ${within("e", "view")} and ${SAME})
    and not exists (select 1 from kept_event e where e.partition_purpose = -1 and ${SAME})`;

const COUNT_OF_SUBJECT = forSubjects((where, parameters) =>
  partitionQuery(
    parameters,
    { events: "int8" },
    (within) => `select count(distinct event_id) as events from ${rowsWithoutEvent(within)} and ${where}`,
  ),
);

/** Counts the events of a subject of which only derived values are left. */
export async function countDerivedOnly(executor: Executor, subject: EventSubject): Promise<number> {
  const partitions = await findPartitionsOf(executor, subject);
  let total = 0;
  const counts = queryPartitions(executor, COUNT_OF_SUBJECT[subject.kind], partitions, subjectValues(subject));
  for await (const { events } of counts) total += events;
  return total;
}

const COUNT_EARLIER = partitionQuery(
  ["interval?", "interval?"],
  { expire_earlier: "int8", expire_at_once: "int8" },
  (within) => `select count(distinct event_id)
        filter (where received_at + $1::interval < coalesce(received_at + $2::interval, 'infinity')) as expire_earlier,
      count(distinct event_id) filter (where received_at + $1::interval <= transaction_time()
        and (received_at + $2::interval <= transaction_time()) is not true
        and not is_held(account, action_id, event_id)) as expire_at_once
    from ${rowsWithoutEvent(within)}`,
);

/**
 * Counts the events of a purpose of which only derived values are left, and which a new derived period makes expire
 * earlier or at once.
 * @param code the code of the purpose.
 */
export async function countDerivedEarlier(
  executor: Executor,
  code: number,
  period: { readonly before: string | null; readonly after: string | null },
): Promise<{ readonly expire_earlier: number; readonly expire_at_once: number }> {
  const total = { expire_earlier: 0, expire_at_once: 0 };
  const partitions = await findFeaturePartitions(executor, { purpose: code });
  for await (const row of queryPartitions(executor, COUNT_EARLIER, partitions, [period.after, period.before])) {
    total.expire_earlier += row.expire_earlier;
    total.expire_at_once += row.expire_at_once;
  }
  return total;
}
