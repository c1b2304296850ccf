/** How fast the stored data grows, and how long the disk lasts. */
import { auditBytes, batchAt, ledgerBytes } from "../../store/capacity/plan.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { queryRow, query, sql } from "../../store/postgres/statement.ts";

const DAY_SECONDS = 86_400;

/** What grows by itself and keeps its data for a time of its own: events or feature values of a purpose, ledger, audit. */
export interface Growth {
  readonly bytes: number;
  readonly bytesPerDay: number;
  /** How long its data is kept; absent: without end. */
  readonly keptDays?: number;
}

export interface Storage {
  readonly growths: readonly Growth[];
  readonly eventsPerDay: number;
  /** Bytes of the database. */
  readonly databaseBytes: number;
  /** Bytes that PostgreSQL may use for the write-ahead log. */
  readonly maxWalBytes: number;
}

/**
 * The last seven days, or the time since the installation began, but at least a day: a partition counts by the part of
 * its time in them. The sizes lock one table after the other, and release it at once.
 */
const READ_GROWTH = sql(
  `with span as (select transaction_time() as until, created_at,
        greatest(created_at, transaction_time() - interval '7 days') as since from installation),
    partition as (
      select 'event' as kind, purpose, table_name, lower_bound, upper_bound from event_partition where dropped_at is null
      union all select 'feature', purpose, table_name, lower_bound, upper_bound from feature_partition where dropped_at is null),
    measured as (
      select kind, purpose, pg_total_relation_size(to_regclass(table_name)) as bytes,
          pg_stat_get_live_tuples(to_regclass(table_name)) as events,
          greatest(extract(epoch from least(until, upper_bound) - greatest(since, lower_bound)), 0)
            / nullif(extract(epoch from least(until, upper_bound) - greatest(created_at, lower_bound)), 0)
            / greatest(extract(epoch from until - since) / ${DAY_SECONDS}, 1) as share
        from partition, span where lower_bound < until)
    select kind, coalesce(sum(bytes), 0)::int8 as bytes, coalesce(sum(bytes * share), 0)::float8 as bytes_per_day,
        coalesce(sum(events * share), 0)::float8 as events_per_day,
        (extract(epoch from case kind when 'event' then u.raw_retention else u.derived_retention end) / ${DAY_SECONDS})::float8 as kept_days
      from measured m join purpose u on u.code = m.purpose group by kind, u.code`,
  [],
  { kind: "text", bytes: "int8", bytes_per_day: "float8", events_per_day: "float8", kept_days: "float8?" },
);

const READ_SIZES = sql(
  `select pg_database_size(current_database()) as database,
      pg_size_bytes(current_setting('max_wal_size')) as wal,
      pg_total_relation_size('idempotency_key') as ledger,
      pg_total_relation_size('audit_entry') + pg_total_relation_size('audit_leaf') as audit`,
  [],
  { database: "int8", wal: "int8", ledger: "int8", audit: "int8" },
);

/** @param replayWindowDays how long the ledger has an event after its end. @param auditDays how long audit entries are kept. */
export async function readStorage(
  executor: Executor,
  { replayWindowDays, auditDays }: { readonly replayWindowDays: number; readonly auditDays: number },
): Promise<Storage> {
  const { rows } = await query(executor, READ_GROWTH);
  const sizes = await queryRow(executor, READ_SIZES);
  const partitions = rows.map(({ bytes, bytes_per_day, kept_days }): Growth => ({
    bytes,
    bytesPerDay: bytes_per_day,
    ...(kept_days !== null && { keptDays: kept_days }),
  }));
  const events = rows.filter(({ kind }) => kind === "event");
  const eventsPerDay = events.reduce((sum, { events_per_day }) => sum + events_per_day, 0);
  const batch = batchAt(eventsPerDay / DAY_SECONDS);
  const longest = Math.max(0, ...events.map(({ kept_days }) => kept_days ?? Number.POSITIVE_INFINITY));
  const ledger: Growth = {
    bytes: sizes.ledger,
    bytesPerDay: eventsPerDay * ledgerBytes(batch),
    ...(Number.isFinite(longest) && { keptDays: longest + replayWindowDays }),
  };
  const audit: Growth = { bytes: sizes.audit, bytesPerDay: eventsPerDay * auditBytes(batch), keptDays: auditDays };
  return {
    growths: [...partitions, ledger, audit],
    eventsPerDay,
    databaseBytes: sizes.database,
    maxWalBytes: sizes.wal,
  };
}

export const bytesPerDay = (growths: readonly Growth[]): number =>
  growths.reduce((sum, growth) => sum + growth.bytesPerDay, 0);

/**
 * Days until the free bytes are used, if everything grows as before. What is kept for a time stops growing when as much
 * is deleted as is stored.
 * @returns `undefined` if they are never used up.
 */
export function runwayDays(growths: readonly Growth[], freeBytes: number): number | undefined {
  const growing = growths
    .map(({ bytes, bytesPerDay, keptDays = Number.POSITIVE_INFINITY }) => ({
      bytesPerDay,
      forDays: bytesPerDay > 0 ? keptDays - bytes / bytesPerDay : 0,
    }))
    .filter(({ forDays }) => forDays > 0)
    .toSorted((a, b) => a.forDays - b.forDays);
  let [day, free, rate] = [0, freeBytes, growing.reduce((sum, growth) => sum + growth.bytesPerDay, 0)];
  for (const { bytesPerDay, forDays } of growing) {
    const fullAt = day + free / rate;
    if (fullAt <= forDays) return Math.max(0, fullAt);
    free -= rate * (forDays - day);
    day = forDays;
    rate -= bytesPerDay;
  }
  return undefined;
}
