/** What an auditor reviews regularly: who opened events, and which commands were used on the database. */
import { BREAK_GLASS_OPERATIONS } from "@device-risk-signals/admin-api";
import type { Executor } from "../store/postgres/executor.ts";
import { query, queryRow, sql } from "../store/postgres/statement.ts";
import { PRUNE_OPERATION } from "./log/epoch.ts";

/**
 * Operations that read payloads or destroy data. Commands that do these on the database need neither a case nor an
 * approval.
 */
export const DIRECT_USE: readonly string[] = [...BREAK_GLASS_OPERATIONS, PRUNE_OPERATION];

/** The number of entries, and of their events, of one person with the same operation, category and ticket. */
export interface ReadCount {
  /** The person, or the actor of a command on the database. */
  readonly person: string;
  readonly via: string;
  readonly operation: string;
  readonly category: string | null;
  readonly ticket: string | null;
  readonly entries: number;
  /** The events that the entries name. An event counts in each entry. */
  readonly events: number;
  readonly accounts: number;
  /** Entries among them whose MAC no worker has checked yet. */
  readonly unchecked: number;
}

export interface ReadFilter {
  /** The time from which entries are counted, in RFC 3339. */
  readonly since: string;
  readonly reads: readonly string[];
  /** Operations that count only if a command on the database did them. */
  readonly direct: readonly string[];
  /** Limits the review to one person. */
  readonly person: string | undefined;
  readonly limit: number;
}

const COUNT_READS = sql(
  `select case when via = 'direct' then actor else split_part(actor, ' (', 1) end as person, via, operation, category,
      ticket, count(*) as entries,
      coalesce(sum(coalesce(cardinality(event_ids), num_nonnulls(event_id))), 0)::int8 as events,
      count(distinct subject) as accounts,
      count(*) filter (where not checked) as unchecked
    from shown_entry
    where at >= $1 and outcome in ('begun', 'done')
      and (operation = any ($2) or (via = 'direct' and operation = any ($3)))
      -- guard(true): a caller without the auditor's role reviews what they did themselves
      and ($4::text is null or (via in ('api', 'console', 'cli') and split_part(actor, ' (', 1) = $4))
    group by 1, via, operation, category, ticket
    order by events desc, entries desc, 1, via, operation, category, ticket limit $5::int4`,
  ["timestamptz", "text[]", "text[]", "text?", "int4"],
  {
    person: "text",
    via: "text",
    operation: "text",
    category: "text?",
    ticket: "text?",
    entries: "int8",
    events: "int8",
    accounts: "int8",
    unchecked: "int8",
  },
);

const COUNT_UNVERIFIED = sql(
  `select count(*) as entries from audit_leaf l join audit_entry e on e.entry_id = l.entry_id
    where not l.verified and e.written_at >= $1`,
  ["timestamptz"],
  { entries: "int8" },
);

/** Counts the entries since this time that a login of the database inserted, and that are no person's act. */
export async function countUnverified(executor: Executor, since: string): Promise<number> {
  return (await queryRow(executor, COUNT_UNVERIFIED, [since])).entries;
}

/** Counts reads, the most events first. */
export async function countReads(
  executor: Executor,
  { since, reads, direct, person, limit }: ReadFilter,
): Promise<readonly ReadCount[]> {
  return (await query(executor, COUNT_READS, [since, [...reads], [...direct], person ?? null, limit])).rows;
}
