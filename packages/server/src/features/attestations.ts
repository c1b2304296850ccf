/**
 * The table of attestations. An attestation has the values of a partition of events that gave the same result when they
 * were computed again before the partition expired.
 */
import { excludeIngestion } from "../store/events/exclude-ingestion.ts";
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { isAfter, type KeysetPage, positionValues } from "../store/postgres/keyset.ts";
import { query, queryRow, type RowOf, sql } from "../store/postgres/statement.ts";
import { includesLeaf } from "./leaves.ts";

/** A partition becomes due this long before its first event expires. */
const BEFORE_EXPIRY = "1 day";
/** Events of a partition may still be committed for this long after its end. */
const AFTER_END = "1 hour";

const DUE_TYPES = {
  partition_id: "uuid",
  purpose: "int4",
  lower_bound: "text",
  upper_bound: "text",
  layers: "int4[]",
} as const;

/** A partition of events that expires soon, with the layers for which it has no attestation. */
export type DuePartition = RowOf<typeof DUE_TYPES>;

const FIND_DUE = sql(
  `select p.partition_id, p.purpose, ${instant("p.lower_bound", "lower_bound")},
      ${instant("p.upper_bound", "upper_bound")}, array_agg(l.layer order by l.layer) as layers
    from event_partition p join purpose u on u.code = p.purpose join layer l on l.purpose = p.purpose
    where p.dropped_at is null and p.upper_bound + interval '${AFTER_END}' <= transaction_time()
      -- guard(true): a layer that has ended before a partition has no rows in it
      and (l.ended_at is null or l.ended_at > p.lower_bound)
      and p.lower_bound + u.raw_retention - interval '${BEFORE_EXPIRY}' <= transaction_time()
      and not exists (select 1 from attestation a where a.partition_id = p.partition_id and a.layer = l.layer)
      and p.partition_id <> all ($1::uuid[])
    group by p.partition_id, p.purpose, p.lower_bound, p.upper_bound
    order by p.lower_bound, p.purpose limit 1`,
  ["uuid[]"],
  DUE_TYPES,
);

/** @param except partitions to skip. */
export async function findDuePartition(
  executor: Executor,
  except: readonly string[],
): Promise<DuePartition | undefined> {
  return (await query(executor, FIND_DUE, [except])).rows[0];
}

// Values that are stored after an export are at least a microsecond newer than its watermark, even if the clock was set
// back. A millisecond is added, because the result is cut to milliseconds. Values that are stored after the start of an
// attestation can have the same time as the start.
const AFTER_STORED = `greatest(
  -- guard(drop): values that were stored after an export are in the attestation
  (select max(watermark) + interval '1001 microseconds' from data_export),
  -- guard(drop): values that were stored after another attestation are in the attestation
  (select max(attested_at) + interval '1 millisecond' from attestation_start),
  wall_clock_time())`;
const INSERT_START = sql(
  `with next as materialized (select date_trunc('milliseconds', ${AFTER_STORED}) as attested_at),
      started as (insert into attestation_start (attested_at) select attested_at from next returning attested_at)
    select ${instant("attested_at")} from started`,
  [],
  { attested_at: "text" },
);

/**
 * Waits for values that are being stored.
 * @returns a time. Every row that was extracted before this time is committed.
 */
export async function beginAttestation(transaction: Transaction): Promise<string> {
  await excludeIngestion(transaction);
  return (await queryRow(transaction, INSERT_START)).attested_at;
}

export interface NewAttestation {
  readonly partitionId: string;
  readonly layer: number;
  /** When the read began. */
  readonly attestedAt: string;
  readonly rows: number;
  readonly equal: number;
  readonly root: Buffer;
  /** The hashes of the leaves, in their order. */
  readonly leaves: Buffer;
  /** JWS. */
  readonly statement: string;
}

const INSERT = sql(
  `insert into attestation (partition_id, layer, attested_at, rows, equal, root, leaves, statement)
    values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
  ["uuid", "int4", "timestamptz", "int8", "int8", "bytea", "bytea", "text"],
);

/** Stores an attestation, unless another worker has stored it. */
export async function insertAttestation(executor: Executor, attestation: NewAttestation): Promise<void> {
  const { partitionId, layer, attestedAt, rows, equal, root, leaves, statement } = attestation;
  await query(executor, INSERT, [partitionId, layer, attestedAt, rows, equal, root, leaves, statement]);
}

const COLUMNS = `a.partition_id, a.layer, p.purpose, ${instant("p.lower_bound", "lower_bound")},
  ${instant("p.upper_bound", "upper_bound")}, a.rows, a.equal, encode(a.root, 'hex') as root,
  ${instant("a.attested_at", "attested_at")}, a.statement`;
const TYPES = {
  partition_id: "uuid",
  layer: "int4",
  purpose: "int4",
  lower_bound: "text",
  upper_bound: "text",
  rows: "int8",
  equal: "int8",
  root: "text",
  attested_at: "text",
  statement: "text",
} as const;

export type AttestationRow = RowOf<typeof TYPES>;

/** Whether values were stored before the attestation began. An attestation begins at a whole millisecond. */
export const isCovered = (extractedAt: string, { attested_at }: AttestationRow): boolean =>
  Date.parse(extractedAt) < Date.parse(attested_at);

const LIST = sql(
  `select ${COLUMNS} from attestation a join event_partition p on p.partition_id = a.partition_id
    where ($1::uuid is null or a.partition_id = $1)
      and ($2::timestamptz is null or (p.lower_bound <= $2 and p.upper_bound > $2))
      and ($3::int4 is null or a.layer = $3)
      and ${isAfter("p.lower_bound", "$4", { "a.partition_id": "$5::uuid", "a.layer": "$6::int4" })}
    order by p.lower_bound desc, a.partition_id, a.layer limit $7::int4`,
  ["uuid?", "timestamptz?", "int4?", "timestamptz?", "uuid?", "int4?", "int4"],
  TYPES,
);

export interface AttestationFilter {
  readonly partitionId?: string;
  /** A time within the range of the partition, in RFC 3339. */
  readonly at?: string;
  readonly layer?: number;
}

/** Lists attestations, those of the newest partition first. */
export async function listAttestations(
  executor: Executor,
  { partitionId, at, layer }: AttestationFilter,
  page: KeysetPage,
): Promise<readonly AttestationRow[]> {
  const [after = null, partition = null, last = null] = positionValues(page, 2);
  const position = [after, partition, last === null ? null : Number(last)] as const;
  return (await query(executor, LIST, [partitionId ?? null, at ?? null, layer ?? null, ...position, page.limit])).rows;
}

const READ_LEAVES = sql("select leaves from attestation where partition_id = $1 and layer = $2", ["uuid", "int4"], {
  leaves: "bytea",
});

export async function readLeaves(
  executor: Executor,
  { partition_id, layer }: Pick<AttestationRow, "partition_id" | "layer">,
): Promise<Buffer> {
  return (await query(executor, READ_LEAVES, [partition_id, layer])).rows[0]?.leaves ?? Buffer.of();
}

const READ_SOME_LEAVES = sql(
  "select substring(leaves from $3 for $4) as leaves from attestation where partition_id = $1 and layer = $2",
  ["uuid", "int4", "int4", "int4"],
  { leaves: "bytea" },
);

/** Whether a leaf is in an attestation. Reads only a few of the attestation's leaves. */
export function isAttested(
  executor: Executor,
  { partition_id, layer, equal }: Pick<AttestationRow, "partition_id" | "layer" | "equal">,
  leaf: Buffer,
): Promise<boolean> {
  const read = async (offset: number, length: number): Promise<Buffer> =>
    (await queryRow(executor, READ_SOME_LEAVES, [partition_id, layer, offset + 1, length])).leaves;
  return includesLeaf(equal, read, leaf);
}
