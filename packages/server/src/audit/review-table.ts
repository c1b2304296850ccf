/**
 * Reviews as rows. A login of the database can insert rows, but it can't make a MAC. The server uses no review and no
 * end of a review without a valid MAC.
 */
import {
  findNumbered,
  nextNumber,
  type NumberedIds,
  type NumberedSearch,
  numberedIds,
} from "../store/crypto/numbered-ids.ts";
import { MAX_UNSIGNED, type RowSigner, type SignedValues } from "../store/crypto/row-signer.ts";
import type { Clock } from "../base/ports.ts";
import { isIdFree } from "../store/postgres/advisory-locks.ts";
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { query, queryRow, type RowOf, sql } from "../store/postgres/statement.ts";
import type { AuditSigner } from "./audit-signer.ts";

const FIND_SUBJECT = sql("select subject from audit_entry where entry_id = $1", ["uuid"], { subject: "bytea?" });
const INSERT_REVIEW = sql(
  `insert into audit_review (review_id, entry_id, subject, opened_at, mac) select $1::uuid, $2, $3, $4, $5
    where ${isIdFree("$1")} on conflict (review_id) do nothing`,
  ["uuid", "uuid", "bytea?", "timestamptz", "bytea"],
);
/** Finds the time that the row inserted in this transaction will get. */
const FIND_TIME = sql(`select ${instant("transaction_time()", "ended_at")}`, [], { ended_at: "text" });
const INSERT_END = sql(
  "insert into audit_review_end (end_id, review_id, mac) values ($1, $2, $3) on conflict (end_id) do nothing",
  ["uuid", "uuid", "bytea"],
);

/** Maximum number of rows that a statement reads, because a login of the database can insert rows without limit. */
const PAGE = 1_000;
/** Number of ids of reviews that a statement looks up. */
const LOOKED_UP = 250;
/** No review has this id: a constraint refuses it. */
const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const TYPES = { review_id: "uuid", entry_id: "uuid", subject: "bytea?", opened_at: "text", mac: "bytea" } as const;
type ReviewRow = RowOf<typeof TYPES>;

const COLUMNS = `r.review_id, r.entry_id, r.subject, ${instant("r.opened_at", "opened_at")}, r.mac`;

const FOUND_TYPES = { ...TYPES, has_entry: "bool" } as const;
type FoundReviewRow = RowOf<typeof FOUND_TYPES>;
const FIND = sql(
  `select ${COLUMNS}, exists (select 1 from audit_entry e where e.entry_id = r.entry_id) as has_entry
    from audit_review r where r.review_id = any ($1)`,
  ["uuid[]"],
  FOUND_TYPES,
);
const FIND_IDS = sql("select review_id from audit_review where review_id = any ($1)", ["uuid[]"], {
  review_id: "uuid",
});
export const FIND_OF_SUBJECT = sql(
  `select ${COLUMNS}, exists (select 1 from audit_entry e where e.entry_id = r.entry_id) as has_entry
    from audit_review r where r.subject = $1 limit ${LOOKED_UP}`,
  ["bytea"],
  FOUND_TYPES,
);
const HAS_LEAF_BEFORE = sql(
  `select exists (select 1 from audit_leaf l where l.entry_id = any ($1) and (l.epoch, l.leaf) < ($2, $3)) as found`,
  ["uuid[]", "int4", "int8"],
  { found: "bool" },
);
const READ_RECENT = sql(
  `select ${COLUMNS}, r.written_at::text as position from audit_review r
    where r.written_at > $1 and (r.written_at, r.review_id) > ($2, $3) order by r.written_at, r.review_id limit ${PAGE}`,
  ["timestamptz", "timestamptz", "uuid"],
  { ...TYPES, position: "text" },
);

const FIND_ENDS = sql(
  `select end_id, ${instant("ended_at")}, mac from audit_review_end where end_id = any ($1)`,
  ["uuid[]"],
  { end_id: "uuid", ended_at: "text", mac: "bytea" },
);

/** Reads the page of ends after an end, with the MACs of their reviews. */
const READ_RECENT_ENDS = sql(
  `select e.end_id, ${instant("e.ended_at", "ended_at")}, e.mac, r.mac as review_mac, e.ended_at::text as position
    from audit_review_end e join audit_review r using (review_id)
    where e.ended_at > $1 and (e.ended_at, e.end_id) > ($2, $3) order by e.ended_at, e.end_id limit ${PAGE}`,
  ["timestamptz", "timestamptz", "uuid"],
  { end_id: "uuid", ended_at: "text", mac: "bytea", review_mac: "bytea", position: "text" },
);

/** A review that the server opened. */
export interface StoredReview {
  readonly review_id: string;
  readonly entry_id: string;
  readonly subject: Buffer | null;
  readonly opened_at: string;
  readonly mac: Buffer;
  /** Whether the server has closed it. */
  readonly isClosed: boolean;
}

/** An entry to review. */
export interface ReviewedEntry {
  readonly entryId: string;
  /** Keyed MAC of the account that the entry is about. */
  readonly subject: Buffer | null;
}

/** @returns `undefined` if the entry does not exist. */
export async function findReviewedEntry(executor: Executor, entryId: string): Promise<ReviewedEntry | undefined> {
  const { rows } = await query(executor, FIND_SUBJECT, [entryId]);
  return rows[0] && { entryId, subject: rows[0].subject };
}

/** @returns the id of the review. */
export async function insertReview(
  executor: Executor,
  { reviews, clock }: AuditSigner,
  { entryId, subject }: ReviewedEntry,
): Promise<string> {
  const opened_at = nowOf(clock);
  const search = idSearch(executor, reviews);
  for (let number = await nextNumber(search); ; number++) {
    const review_id = search.ids(number);
    const mac = reviews.sign(reviewValues({ review_id, entry_id: entryId, subject, opened_at }));
    const { rowCount } = await query(executor, INSERT_REVIEW, [review_id, entryId, subject, opened_at, mac]);
    if (rowCount === 1) return review_id;
  }
}

/**
 * Ends an open review. The first ids may be in use: if a restore lost earlier ends, a login of the database can insert
 * rows with their ids.
 */
export async function insertEnd(
  transaction: Transaction,
  { reviews }: AuditSigner,
  { review_id, mac }: StoredReview,
): Promise<void> {
  const { ended_at } = await queryRow(transaction, FIND_TIME, []);
  const ids = endIdsOf(reviews, mac);
  for (let number = 0; ; number++) {
    const end_id = ids(number);
    const signed = reviews.sign(endValues(mac, { end_id, ended_at }));
    if ((await query(transaction, INSERT_END, [end_id, review_id, signed])).rowCount === 1) return;
  }
}

/** Reads each review that the server opened. */
export async function readReviews(executor: Executor, signer: AuditSigner): Promise<readonly StoredReview[]> {
  return signedReviews(executor, signer, await findReviews(executor, signer.reviews));
}

/** Whether a review of an entry before a leaf of the log is open. */
export async function hasOpenReviewBefore(
  executor: Executor,
  signer: AuditSigner,
  { epoch, leaf }: { readonly epoch: number; readonly leaf: number },
): Promise<boolean> {
  const open = (await readReviews(executor, signer)).filter(({ isClosed }) => !isClosed);
  return (await queryRow(executor, HAS_LEAF_BEFORE, [open.map(({ entry_id }) => entry_id), epoch, leaf])).found;
}

/** Whether a review of an entry about the subject is open. */
export async function isUnderReview(executor: Executor, signer: AuditSigner, subject: Buffer): Promise<boolean> {
  return (await openReviews(executor, signer, await findReviewsOf(executor, signer.reviews, subject))).length > 0;
}

async function findReviewsOf(
  executor: Executor,
  signer: RowSigner,
  subject: Buffer,
): Promise<readonly FoundReviewRow[]> {
  const { rows } = await query(executor, FIND_OF_SUBJECT, [subject]);
  // A login of the database can insert more rows with this subject than the statement reads.
  // guard(true): no number of forged reviews of an account hides its open review
  if (rows.length < LOOKED_UP) return rows;
  return (await findReviews(executor, signer)).filter((row) => row.subject?.equals(subject));
}

/** Finds reviews by their ids. A search by a column would also find rows that a login of the database inserted. */
const searchOf = <Row extends { readonly review_id: string }>(
  signer: RowSigner,
  find: (ids: readonly string[]) => Promise<readonly Row[]>,
): NumberedSearch<Row> => ({
  ids: numberedIds(signer, "review id"),
  page: LOOKED_UP,
  find,
  idOf: ({ review_id }) => review_id,
});

/** Finds the ids of reviews, and reads nothing else of them. */
const idSearch = (executor: Executor, signer: RowSigner): NumberedSearch<{ readonly review_id: string }> =>
  searchOf(signer, async (ids) => (await query(executor, FIND_IDS, [ids])).rows);

async function findReviews(executor: Executor, signer: RowSigner): Promise<readonly FoundReviewRow[]> {
  const found = await findNumbered(searchOf(signer, async (ids) => (await query(executor, FIND, [ids])).rows));
  return found.map(({ row }) => row);
}

/** Finds a review that the server opened, and has not closed. */
export async function findOpenReview(
  executor: Executor,
  signer: AuditSigner,
  reviewId: string,
): Promise<StoredReview | undefined> {
  const { rows } = await query(executor, FIND, [[reviewId]]);
  return (await openReviews(executor, signer, rows))[0];
}

/** After a restore, a login of the database can insert a review of the server again although its entry is lost. */
async function openReviews(
  executor: Executor,
  signer: AuditSigner,
  rows: readonly FoundReviewRow[],
): Promise<readonly StoredReview[]> {
  const existing = rows.flatMap((row) => {
    // guard(true): a review whose entry is lost keeps no reason readable
    return row.has_entry ? [row] : [];
  });
  return (await signedReviews(executor, signer, existing)).filter(({ isClosed }) => !isClosed);
}

/**
 * Counts reviews, and ends of reviews, that were written in the last 30 days and that the server did not sign. It stops
 * at about `MAX_UNSIGNED`.
 */
export async function countForgedReviews(executor: Executor, { reviews, clock }: AuditSigner): Promise<number> {
  const since = new Date(clock.now() - 30 * 86_400_000).toISOString();
  let forgedCount = 0;
  for (let after: readonly [string, string] = ["-infinity", FIRST_ID]; ;) {
    const { rows } = await query(executor, READ_RECENT, [since, ...after]);
    forgedCount += rows.filter((row) => !reviews.isSigned(reviewValues(row), row.mac)).length;
    // guard(false): a count of forged reviews has an end
    if (forgedCount >= MAX_UNSIGNED) return forgedCount;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) break;
    after = [last.position, last.review_id];
  }
  for (let after: readonly [string, string] = ["-infinity", FIRST_ID]; ;) {
    const { rows } = await query(executor, READ_RECENT_ENDS, [since, ...after]);
    forgedCount += rows.filter((end) => !reviews.isSigned(endValues(end.review_mac, end), end.mac)).length;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE || forgedCount >= MAX_UNSIGNED) return forgedCount;
    after = [last.position, last.end_id];
  }
}

async function signedReviews(
  executor: Executor,
  { reviews }: AuditSigner,
  rows: readonly ReviewRow[],
): Promise<readonly StoredReview[]> {
  const signed = rows.flatMap((row) => {
    // guard(true): a review that a login of the database wrote is no review
    return reviews.isSigned(reviewValues(row), row.mac) ? [row] : [];
  });
  const ended = await findEnded(executor, reviews, signed);
  return signed.map((row) => ({ ...row, isClosed: ended.has(row.review_id) }));
}

/**
 * An end is searched under one id after the other, as long as the row with the id is forged. @returns the ids of the
 * reviews that have an end.
 */
async function findEnded(
  executor: Executor,
  signer: RowSigner,
  reviews: readonly ReviewRow[],
): Promise<ReadonlySet<string>> {
  const ended = new Set<string>();
  let remaining = reviews;
  for (let number = 0; remaining.length > 0; number++) {
    const ids = new Map(remaining.map((review) => [endIdsOf(signer, review.mac)(number), review]));
    const { rows } = await query(executor, FIND_ENDS, [[...ids.keys()]]);
    remaining = rows.flatMap((end) => {
      const review = ids.get(end.end_id);
      if (!review) return [];
      // guard(false): an end that a login of the database wrote is no end
      if (!signer.isSigned(endValues(review.mac, end), end.mac)) return [review];
      ended.add(review.review_id);
      return [];
    });
  }
  return ended;
}

/**
 * The possible ids of the end of a review; the end has the first of them that was free. A login of the database can
 * know such an id only from an end that a restore has lost.
 */
const endIdsOf = (signer: RowSigner, reviewMac: Buffer): NumberedIds =>
  numberedIds(signer, "end id", reviewMac.toString("hex"));

const reviewValues = ({
  review_id,
  entry_id,
  subject,
  opened_at,
}: Omit<StoredReview, "mac" | "isClosed">): SignedValues => [
  "review",
  review_id,
  entry_id,
  subject?.toString("hex") ?? null,
  opened_at,
];
/**
 * The values that the MAC of an end covers. The time is among them, so a login of the database can't insert an end
 * again that a restore lost.
 * @param reviewMac the MAC of the review, so that the end of one review is invalid for another.
 */
const endValues = (reviewMac: Buffer, { end_id, ended_at }: End): SignedValues => [
  "end",
  reviewMac.toString("hex"),
  end_id,
  ended_at,
];

interface End {
  readonly end_id: string;
  /** RFC 3339, to the millisecond. */
  readonly ended_at: string;
}

const nowOf = (clock: Clock): string => new Date(clock.now()).toISOString();
