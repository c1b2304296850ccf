import type { Executor, Transaction } from "../postgres/executor.ts";
import {
  type Columns,
  type ComposedQuery,
  composed,
  type ParameterType,
  query,
  queryComposed,
  queryRow,
  type RowOf,
  sql,
  type ValuesOf,
} from "../postgres/statement.ts";

/**
 * Maximum number of partitions in one statement. PostgreSQL locks the table and the four indexes of each partition, and
 * plans each separately. A statement over all partitions could use up the lock table of the whole cluster.
 */
const MAX_SLICE_PARTITIONS = 20;

export interface Partition {
  readonly partition_id: string;
  readonly purpose: number;
  /** Milliseconds since the Unix epoch. */
  readonly lower_ms: number;
  readonly upper_ms: number;
}

/** A filter for partitions. Default: all partitions that are not dropped. */
export interface PartitionFilter {
  readonly purpose?: number;
  /** Partitions that overlap this range; milliseconds since the Unix epoch, both ends inclusive. */
  readonly from?: number;
  readonly to?: number;
  /**
   * Partitions that contain an event of the account, as the ledger says. If the account has very many events, all
   * partitions.
   */
  readonly account?: string;
}

/** Maximum number of ledger rows of an account that are read to find its partitions. */
const MAX_LEDGER_ROWS = 10_000;

/** The columns of a row `p` of `event_partition`. */
export const PARTITION_COLUMNS = `p.partition_id, p.purpose, extract(epoch from p.lower_bound)::float8 * 1000 as lower_ms,
  extract(epoch from p.upper_bound)::float8 * 1000 as upper_ms`;

export const PARTITION_TYPES = {
  partition_id: "uuid",
  purpose: "int4",
  lower_ms: "float8",
  upper_ms: "float8",
} as const;

const FIND_PARTITIONS = sql(
  `with ledger as materialized (
      select purpose, received_at from idempotency_key where account = $4 limit ${MAX_LEDGER_ROWS + 1}),
    used as materialized (select distinct purpose, date_trunc('minute', received_at) as at from ledger)
    select ${PARTITION_COLUMNS} from event_partition p where p.dropped_at is null
      and ($1::integer is null or p.purpose = $1)
      and ($2::float8 is null or p.upper_bound > to_timestamp($2 / 1000))
      and ($3::float8 is null or p.lower_bound <= to_timestamp($3 / 1000))
      and ($4::text is null or (select count(*) from ledger) > ${MAX_LEDGER_ROWS} or exists (select 1 from used u where u.purpose = p.purpose
        and p.lower_bound <= u.at and u.at < p.upper_bound))
    order by p.lower_bound desc, p.purpose`,
  ["int4?", "float8?", "float8?", "text?"],
  PARTITION_TYPES,
);

/** Finds partitions, newest first. */
export async function findPartitions(executor: Executor, filter: PartitionFilter = {}): Promise<readonly Partition[]> {
  return (
    await query(executor, FIND_PARTITIONS, [
      filter.purpose ?? null,
      filter.from ?? null,
      filter.to ?? null,
      filter.account ?? null,
    ])
  ).rows;
}

/** Binds a value and returns its placeholder. */
export type Bind = (value: unknown) => string;

/** @param event the alias of the events in the query. @param view whether the events are read from a view. */
export type Within = (event: string, view?: "view") => string;

/** A condition that names a range by constants, so that PostgreSQL reads only its partitions. */
export function withinOf({ purpose, lower_ms, upper_ms }: PartitionRange, bind: Bind): Within {
  const [purposeValue, lower, upper] = [
    purpose,
    new Date(lower_ms).toISOString(),
    new Date(upper_ms).toISOString(),
  ].map(bind);
  return (event, view) =>
    `${event}.${view ? "partition_purpose" : "purpose"} = ${purposeValue} and ${event}.received_at >= ${lower} and ${event}.received_at < ${upper}`;
}

/**
 * A condition that finds the events of an account in partitions. No index of `event` begins with the account, but the
 * ledger has the keys of its events.
 * @param account the placeholder of the account.
 */
export const inLedgerOf = (account: string, within: Within, event: string): string =>
  `(${event}.received_at, ${event}.event_id) in (
    select i.received_at, i.event_id from idempotency_key i where i.account = ${account} and ${within("i")})`;

/** The time that partitions of a purpose cover without a gap. */
export type PartitionRange = Pick<Partition, "purpose" | "lower_ms" | "upper_ms">;

/**
 * Joins partitions of one purpose that follow each other, so that PostgreSQL plans the conditions of a branch once for
 * all of them.
 */
export function joinAdjacent(partitions: readonly Partition[]): readonly PartitionRange[] {
  const ranges: PartitionRange[] = [];
  for (const { purpose, lower_ms, upper_ms } of partitions.toSorted(byPurposeAndTime)) {
    const last = ranges.at(-1);
    if (last?.purpose === purpose && last.upper_ms === lower_ms) ranges[ranges.length - 1] = { ...last, upper_ms };
    else ranges.push({ purpose, lower_ms, upper_ms });
  }
  return ranges;
}

const byPurposeAndTime = (a: Partition, b: Partition): number => a.purpose - b.purpose || a.lower_ms - b.lower_ms;

/** Composes a statement with a branch for each range. */
export function branchesOf<Range extends PartitionRange>(
  ranges: readonly Range[],
  bind: Bind,
  branch: (within: Within, range: Range) => string,
): string {
  return ranges.map((range) => `(${branch(withinOf(range, bind), range)})`).join(" union all ");
}

/** Groups keys by the partition that contains their events. Keys of a dropped partition are left out. */
export async function groupByPartition<Key extends { readonly purpose: number; readonly received_at: string }>(
  executor: Executor,
  keys: readonly Key[],
): Promise<ReadonlyMap<Partition, readonly Key[]>> {
  const times = keys.map(({ received_at }) => Date.parse(received_at));
  const range = { from: Math.min(...times), to: Math.max(...times) };
  const partitions = keys.length === 0 ? [] : await findPartitions(executor, range);
  const groups = new Map<Partition, Key[]>();
  for (const [index, key] of keys.entries()) {
    const at = times[index] ?? 0;
    const partition = partitions.find(
      ({ purpose, lower_ms, upper_ms }) => purpose === key.purpose && lower_ms <= at && at < upper_ms,
    );
    if (!partition) continue;
    const group = groups.get(partition);
    if (group) group.push(key);
    else groups.set(partition, [key]);
  }
  return groups;
}

/** A time in milliseconds that is longer than the time between the receipt of an event and its commit. */
export const RECENT_MS = 3_600_000;

/** Number of relations of a partition that a statement locks: the table and its indexes. */
export const LOCKS_PER_PARTITION = 5;

export interface PartitionLoad {
  readonly partitions: number;
  /** Locks that a statement over all partitions takes. */
  readonly locks: number;
  /** Number of locks that the cluster's lock table can hold. */
  readonly capacity: number;
  /** Maximum number of sessions and prepared transactions, which share the lock table. */
  readonly sessions: number;
}

const PARTITION_LOAD = sql(
  `select (select count(*) from event_partition where dropped_at is null) as partitions, sessions,
        sessions * current_setting('max_locks_per_transaction')::int as capacity
      from (select current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int as sessions) s`,
  [],
  { partitions: "int8", sessions: "int4", capacity: "int4" },
);

export async function readPartitionLoad(executor: Executor): Promise<PartitionLoad> {
  const load = await queryRow(executor, PARTITION_LOAD);
  return { ...load, locks: load.partitions * LOCKS_PER_PARTITION };
}

/** Runs reads and releases the locks of each statement right after it. */
export const releasingLocks = (transaction: Transaction): Executor => ({
  async query(text, values) {
    await transaction.query("savepoint reading");
    const result = await transaction.query(text, values);
    await transaction.query("rollback to reading; release reading");
    return result;
  },
});

export function* slicesOf(partitions: readonly Partition[]): Generator<readonly Partition[]> {
  for (let at = 0; at < partitions.length; at += MAX_SLICE_PARTITIONS)
    yield partitions.slice(at, at + MAX_SLICE_PARTITIONS);
}

/** A partition for the composition of a sample statement, which shows the statement's types. */
export const SAMPLE_PARTITION: Partition = {
  partition_id: "00000000-0000-0000-0000-000000000000",
  purpose: 1,
  lower_ms: 0,
  upper_ms: 1,
};

/** A query over partitions. */
export interface PartitionQuery<Values extends readonly unknown[], Row> {
  /** The statement over a slice. */
  readonly over: (partitions: readonly Partition[], values: readonly unknown[]) => ComposedQuery<Row>;
  /** Exists only for the compiler. */
  readonly types?: { readonly values: Values };
}

/**
 * Declares a query over partitions, at the top level of a module.
 * @param parameters the types of the values `$1` and so on, to which a branch may refer.
 */
export function partitionQuery<const Types extends readonly ParameterType[], const Of extends Columns>(
  parameters: Types,
  columns: Of,
  branch: (within: Within, partition: Partition) => string,
): PartitionQuery<ValuesOf<Types>, RowOf<Of>> {
  const compose = (
    partitions: readonly Partition[],
    values: readonly unknown[],
  ): Omit<ComposedQuery<unknown>, "types"> => {
    const bound = [...values];
    return { text: branchesOf(partitions, (value) => `$${bound.push(value)}`, branch), values: bound };
  };
  const sample: Parameters<typeof compose> = [[SAMPLE_PARTITION], parameters];
  return { over: composed(compose, columns, [sample], parameters) };
}

/** The rows of a query over partitions. The query runs over one slice after the other. */
export async function* queryPartitions<Values extends readonly unknown[], Row>(
  executor: Executor,
  { over }: PartitionQuery<Values, Row>,
  partitions: readonly Partition[],
  values: Values,
): AsyncGenerator<Row & object> {
  for (const slice of slicesOf(partitions)) yield* (await queryComposed(executor, over(slice, values))).rows;
}

/** A span of time and the partitions that contain events of it. The spans that `spansOf` yields have no gaps. */
export interface Span {
  /** Inclusive start; absent means no start. */
  readonly from?: number;
  /** Exclusive end; absent means no end. */
  readonly to?: number;
  readonly partitions: readonly Partition[];
}

/**
 * Cuts all time into spans, newest first. The first span has at most `first` partitions, and each next span has at most
 * twice as many as the one before, up to a slice, if the bounds of the partitions allow it. Partitions of several
 * purposes, or of periods that were changed, may have different lengths.
 */
export function* spansOf(partitions: readonly Partition[], first = MAX_SLICE_PARTITIONS): Generator<Span> {
  const bounds = [...new Set(partitions.map(({ lower_ms }) => lower_ms))].toSorted((a, b) => b - a);
  const overlapping = (from: number, to: number): readonly Partition[] =>
    partitions.filter(({ lower_ms, upper_ms }) => lower_ms < to && upper_ms > from);
  let to = Number.POSITIVE_INFINITY;
  for (let next = 0, max = first; next < bounds.length; max = Math.min(2 * max, MAX_SLICE_PARTITIONS)) {
    let spanPartitions = overlapping(bounds[next++] ?? 0, to);
    while (next < bounds.length) {
      const more = overlapping(bounds[next] ?? 0, to);
      if (more.length > max) break;
      spanPartitions = more;
      next++;
    }
    const from = next < bounds.length ? bounds[next - 1] : undefined;
    yield { partitions: spanPartitions, ...(from !== undefined && { from }), ...(Number.isFinite(to) && { to }) };
    to = from ?? to;
  }
  if (bounds.length === 0) yield { partitions: [] };
}
