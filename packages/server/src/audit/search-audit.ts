/** Queries on the audit log that other folders need. */
import type { Secrets } from "../store/crypto/secrets.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { query, queryRow, type RowOf, sql } from "../store/postgres/statement.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { decodeRecord } from "../store/audit-record/record.ts";
import { isOfSurface } from "../store/audit-record/surfaces.ts";
import { referencesOf } from "./log/epoch.ts";
import { openDetail } from "./personal-detail.ts";
import { readReviews } from "./review-table.ts";

/** Operations whose entries name the account that the caller gave, even if this account does not exist. */
const NAMED_BY_CALLER = [
  "event.list",
  "event.count",
  "event.tail",
  "event.timeline",
  "rejection.recent",
  "audit.list",
  "token.list",
  "action.list",
  "case.open",
  "restriction.list",
];

const IS_ACCOUNT_AUDITED = sql(
  `select exists (select 1 from shown_entry where subject = $1 and operation <> all ($2) and outcome <> 'not-found')
      or exists (select 1 from shown_entry where $1 = any (subjects)) as audited`,
  ["bytea", "text[]"],
  { audited: "bool" },
);

/**
 * Whether an entry is about the account with this keyed MAC. Entries of the operations above, and entries with the
 * outcome `not-found`, do not count.
 */
export async function isAccountAudited(executor: Executor, subject: Buffer): Promise<boolean> {
  const { rows } = await query(executor, IS_ACCOUNT_AUDITED, [subject, NAMED_BY_CALLER]);
  return rows[0]?.audited ?? false;
}

/** Maximum number of entries, and size of unchecked ones, that are read: a login of the database can insert any. */
const MAX_EXPORTS = 1_000;
const MAX_UNCHECKED_BYTES = 16_384;

const EXPORT = {
  entry_id: "uuid",
  export_id: "text",
  request_id: "text?",
  at: "text",
  checked: "bool",
  record: "bytea?",
  mac: "bytea",
} as const;
const FIND_ACCOUNT_EXPORTS = sql(
  `select entry_id, detail ->> 'export_id' as export_id, detail ->> 'request_id' as request_id, ${instant("at")}, checked,
      case when not checked then record end as record, mac
    from shown_entry e
    where subject = $1 and operation = 'account.export' and outcome = 'done'
      and ($2::timestamptz is null or e.at >= $2) and ($3::text is null or detail ->> 'export_id' = $3)
      and (checked or octet_length(record) <= ${MAX_UNCHECKED_BYTES})
    order by checked desc, e.at desc, entry_id limit ${MAX_EXPORTS}`,
  ["bytea", "timestamptz?", "text?"],
  EXPORT,
);

/** An export of an account. The request is the one for which it was made. */
export interface AccountExport {
  readonly export_id: string;
  readonly request_id: string | null;
  readonly at: string;
}

/**
 * Finds the exports of the account with this keyed MAC, newest first. Of the entries that no worker has checked yet, only
 * those count whose MAC this process finds valid.
 * @param only `since`: a time in RFC 3339; `exportId`: the id of an export.
 */
export async function findAccountExports(
  executor: Executor,
  signer: AuditSigner,
  subject: Buffer,
  only: { readonly since?: string; readonly exportId?: string },
): Promise<readonly AccountExport[]> {
  const { rows } = await query(executor, FIND_ACCOUNT_EXPORTS, [subject, only.since ?? null, only.exportId ?? null]);
  return rows
    .filter((row) => row.checked || isSignedExport(signer, subject, row))
    .toSorted((one, other) => (one.at > other.at ? -1 : 1));
}

/** Whether the unchecked entry, with what its columns say of the export, has a MAC of a key of this process. */
function isSignedExport(
  signer: AuditSigner,
  subject: Buffer,
  { entry_id, export_id, request_id, at, record: bytes, mac }: RowOf<typeof EXPORT>,
): boolean {
  const record = bytes && decodeRecord(bytes);
  // guard: an entry that a login of the database inserted is no export
  if (!record || !signer.isOwn(record.surface, { bytes, mac }) || !isOfSurface(record)) return false;
  const { export_id: exportId, request_id: requestId = null } = referencesOf(record);
  return (
    record.entryId === entry_id &&
    record.operation === "account.export" &&
    record.outcome === "done" &&
    record.subjects?.[0]?.equals(subject) === true &&
    exportId === export_id &&
    requestId === request_id &&
    record.at === Date.parse(at)
  );
}

export interface OutcomeCount {
  readonly outcome: string;
  readonly events: number;
}

const COUNT_OUTCOMES = sql(
  `select outcome, sum(occurrences)::int8 as events from shown_entry
      where at > transaction_time() - interval '1 day' and outcome = any ($1) group by outcome order by outcome`,
  ["text[]"],
  { outcome: "text", events: "int8" },
);

/** The number of events of the last day with these outcomes. */
export async function countOutcomes(executor: Executor, outcomes: readonly string[]): Promise<readonly OutcomeCount[]> {
  const { rows } = await query(executor, COUNT_OUTCOMES, [outcomes]);
  return rows;
}

export interface UnreviewedUse {
  readonly entries: number;
  /** The time of the oldest entry. */
  readonly since: string | null;
}

const FIND_UNREVIEWED = sql(
  `select count(*) as entries, ${instant("min(at)", "since")} from shown_entry e
    where via = 'direct' and operation = any ($1) and outcome in ('begun', 'done')
      and not exists (select 1 from unnest($2::uuid[]) as reviewed (entry_id) where reviewed.entry_id = e.entry_id)`,
  ["text[]", "uuid[]"],
  { entries: "int8", since: "text?" },
);

/** Counts the entries of these operations by commands on the database for which no review is closed. */
export async function findUnreviewedUse(
  executor: Executor,
  signer: AuditSigner,
  operations: readonly string[],
): Promise<UnreviewedUse> {
  return queryRow(executor, FIND_UNREVIEWED, [operations, await listReviewed(executor, signer)]);
}

const FIND_UNVERIFIED = sql(
  `select count(*) as entries, ${instant("min(e.written_at)", "since")}
    from audit_leaf l join audit_entry e on e.entry_id = l.entry_id
    where not l.verified and not exists (select 1 from unnest($1::uuid[]) as r (entry_id) where r.entry_id = l.entry_id)`,
  ["uuid[]"],
  { entries: "int8", since: "text?" },
);

/** Counts the entries with an invalid MAC for which no review is closed. */
export async function findUnverified(executor: Executor, signer: AuditSigner): Promise<UnreviewedUse> {
  return queryRow(executor, FIND_UNVERIFIED, [await listReviewed(executor, signer)]);
}

/** The ids of the entries whose review is closed. */
async function listReviewed(executor: Executor, signer: AuditSigner): Promise<string[]> {
  return (await readReviews(executor, signer)).flatMap(({ isClosed, entry_id }) => (isClosed ? [entry_id] : []));
}

/** Who gave an order, and why, as its audit entry says. */
export interface AuditedOrder {
  readonly actor: string;
  readonly reason: string;
}

const FIND_ERASURE_ORDER = sql(
  `select record from shown_entry started
      where at between $2::timestamptz - interval '1 day' and $2 and operation = 'erase.run' and outcome = 'begun' and detail ->> 'subject_mac' = $1
        and not exists (select 1 from shown_entry done where done.at between started.at and $2 and done.operation = 'erase.run'
          and done.outcome = 'done' and done.detail ->> 'subject_mac' = $1)
      order by at desc limit 1`,
  ["text?", "timestamptz"],
  { record: "bytea" },
);

/**
 * Finds the order of an erasure that started within 24 hours before the given time and was not finished at that time.
 * @param subjectMac the MAC in hexadecimal. @param at the time in RFC 3339. @returns `undefined` if there is no such
 * order, or if its reason is not readable.
 */
export async function findErasureOrder(
  executor: Executor,
  secrets: Secrets,
  subjectMac: string | null,
  at: string,
): Promise<AuditedOrder | undefined> {
  const [row] = (await query(executor, FIND_ERASURE_ORDER, [subjectMac, at])).rows;
  const record = row && decodeRecord(row.record);
  const opened = record && (await openDetail(secrets, record));
  return record && opened?.reason !== undefined ? { actor: record.actor, reason: opened.reason } : undefined;
}
