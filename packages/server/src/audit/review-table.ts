/**
 * Reviews as rows. A login of the database can insert rows, but it can't make a MAC. The server uses no review and no
 * end of a review without a valid MAC.
 */
import { randomUUID } from "node:crypto";
import { uuidText } from "../crypto/pseudonymizer.ts";
import type { RowSigner, SignedValues } from "../crypto/row-signer.ts";
import type { Clock } from "../ports.ts";
import type { Executor, Transaction } from "../postgres/executor.ts";
import { instant } from "../postgres/instant.ts";
import { query, queryRow, type RowOf, sql } from "../postgres/statement.ts";
import type { AuditSigner } from "./audit-signer.ts";

const FIND_SUBJECT = sql("select subject from audit_entry where entry_id = $1", ["uuid"], { subject: "bytea?" });
/** A concurrent transaction may have inserted the id: the insert waits for its end. */
const INSERT_REVIEW = sql(
  `insert into audit_review (review_id, entry_id, subject, opened_at, mac) values ($1, $2, $3, $4, $5)
    on conflict (review_id) do nothing`,
  ["uuid", "uuid", "bytea?", "timestamptz", "bytea"],
);
/** The time that a row gets in the same transaction. */
const FIND_TIME = sql(`select ${instant("transaction_time()", "ended_at")}`, [], { ended_at: "text" });
const INSERT_END = sql(
  "insert into audit_review_end (end_id, review_id, mac) values ($1, $2, $3) on conflict (end_id) do nothing",
  ["uuid", "uuid", "bytea"],
);

/** Maximum number of rows that a statement reads, because a login of the database can insert rows without limit. */
const PAGE = 1_000;
/** Number of ids of reviews of one subject that a statement looks up. */
const LOOKED_UP = 100;
/** No review has this id: a constraint refuses it. */
const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const TYPES = { review_id: "uuid", entry_id: "uuid", subject: "bytea?", opened_at: "text", mac: "bytea" } as const;
type ReviewRow = RowOf<typeof TYPES>;

const COLUMNS = `r.review_id, r.entry_id, r.subject, ${instant("r.opened_at", "opened_at")}, r.mac`;

/** A page of reviews, after a review. */
const pageOf = (condition: string): string =>
  `select ${COLUMNS} from audit_review r where r.review_id > $1 and ${condition} order by r.review_id limit ${PAGE}`;

const READ_ALL = sql(pageOf("true"), ["uuid"], TYPES);
const FOUND_TYPES = { ...TYPES, has_entry: "bool" } as const;
type FoundReviewRow = RowOf<typeof FOUND_TYPES>;
const FIND = sql(
  `select ${COLUMNS}, exists (select from audit_entry e where e.entry_id = r.entry_id) as has_entry
    from audit_review r where r.review_id = any ($1)`,
  ["uuid[]"],
  FOUND_TYPES,
);
const READ_BEFORE = sql(
  pageOf("exists (select from audit_leaf l where l.entry_id = r.entry_id and (l.epoch, l.leaf) < ($2, $3))"),
  ["uuid", "int4", "int8"],
  TYPES,
);
const READ_RECENT = sql(pageOf("r.written_at > $2"), ["uuid", "timestamptz"], TYPES);

const FIND_ENDS = sql(
  `select end_id, ${instant("ended_at")}, mac from audit_review_end where end_id = any ($1)`,
  ["uuid[]"],
  { end_id: "uuid", ended_at: "text", mac: "bytea" },
);

/** A page of ends with the MACs of their reviews, after an end. */
const READ_RECENT_ENDS = sql(
  `select e.end_id, ${instant("e.ended_at", "ended_at")}, e.mac, r.mac as review_mac
    from audit_review_end e join audit_review r using (review_id)
    where e.end_id > $1 and e.ended_at > $2 order by e.end_id limit ${PAGE}`,
  ["uuid", "timestamptz"],
  { end_id: "uuid", ended_at: "text", mac: "bytea", review_mac: "bytea" },
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
  let number = subject ? await nextNumber(executor, reviews, subject) : 0;
  for (;;) {
    const review_id = subject ? reviewIdOf(reviews, subject, number++) : randomUUID();
    const mac = reviews.sign(reviewValues({ review_id, entry_id: entryId, subject, opened_at }));
    const { rowCount } = await query(executor, INSERT_REVIEW, [review_id, entryId, subject, opened_at, mac]);
    if (rowCount === 1) return review_id;
  }
}

/** Ends an open review. Copies of its earlier ends, which a restore lost, can have the first ids. */
export async function insertEnd(
  transaction: Transaction,
  { reviews }: AuditSigner,
  { review_id, mac }: StoredReview,
): Promise<void> {
  const { ended_at } = await queryRow(transaction, FIND_TIME, []);
  for (let number = 0; ; number++) {
    const end_id = endIdOf(reviews, mac, number);
    const signed = reviews.sign(endValues(mac, { end_id, ended_at }));
    if ((await query(transaction, INSERT_END, [end_id, review_id, signed])).rowCount === 1) return;
  }
}

/** Reads each review that the server opened. */
export const readReviews = (executor: Executor, signer: AuditSigner): AsyncGenerator<StoredReview> =>
  allOf(signedPages(executor, signer, async (after) => (await query(executor, READ_ALL, [after])).rows));

/** Reads the reviews of entries before a leaf of the log. */
export const readReviewsBefore = (
  executor: Executor,
  signer: AuditSigner,
  { epoch, leaf }: { readonly epoch: number; readonly leaf: number },
): AsyncGenerator<StoredReview> =>
  allOf(
    signedPages(executor, signer, async (after) => (await query(executor, READ_BEFORE, [after, epoch, leaf])).rows),
  );

/** Whether a review of the subject is open. */
export async function isUnderReview(executor: Executor, signer: AuditSigner, subject: Buffer): Promise<boolean> {
  for await (const rows of rowsOfSubject(executor, signer.reviews, subject)) {
    if ((await openReviews(executor, signer, rows)).length > 0) return true;
  }
  return false;
}

/** The number of the next review of a subject, unless a concurrent transaction takes it. */
async function nextNumber(executor: Executor, signer: RowSigner, subject: Buffer): Promise<number> {
  let next = 0;
  for await (const rows of rowsOfSubject(executor, signer, subject)) {
    next = 1 + Math.max(...rows.map(({ number }) => number));
  }
  return next;
}

/**
 * Reads the reviews of a subject by their ids, until none of the looked up ids exists. A search by the column `subject`
 * would also find rows of a login of the database, which can be too many. Numbers can be missing after a restore.
 */
async function* rowsOfSubject(
  executor: Executor,
  signer: RowSigner,
  subject: Buffer,
): AsyncGenerator<readonly (FoundReviewRow & { readonly number: number })[]> {
  for (let first = 0; ; first += LOOKED_UP) {
    const ids = Array.from({ length: LOOKED_UP }, (_, index) => reviewIdOf(signer, subject, first + index));
    const { rows } = await query(executor, FIND, [ids]);
    if (rows.length === 0) return;
    yield rows.map((row) => ({ ...row, number: first + ids.indexOf(row.review_id) }));
  }
}

/**
 * The id of a review of a subject. A login of the database can't compute the ids of further reviews.
 * @param number the number of the review, counted from 0 for each subject.
 */
const reviewIdOf = (signer: RowSigner, subject: Buffer, number: number): string =>
  uuidText(signer.sign(["review id", subject.toString("hex"), number]).subarray(0, 16));

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
    // fails: packages/server/src/audit/audit-secrets.test.ts › whose entry a restore lost
    return row.has_entry ? [row] : [];
  });
  return (await signedReviews(executor, signer, existing)).filter(({ isClosed }) => !isClosed);
}

/** Counts reviews, and ends of reviews, that were written in the last 30 days and that the server did not sign. */
export async function countForgedReviews(executor: Executor, { reviews, clock }: AuditSigner): Promise<number> {
  const since = new Date(clock.now() - 30 * 86_400_000).toISOString();
  let forgedCount = 0;
  const readReviewPage = async (after: string) => (await query(executor, READ_RECENT, [after, since])).rows;
  for await (const rows of pages(readReviewPage, ({ review_id }) => review_id)) {
    forgedCount += rows.filter((row) => !reviews.isSigned(reviewValues(row), row.mac)).length;
  }
  const readEndPage = async (after: string) => (await query(executor, READ_RECENT_ENDS, [after, since])).rows;
  for await (const rows of pages(readEndPage, ({ end_id }) => end_id)) {
    forgedCount += rows.filter((end) => !reviews.isSigned(endValues(end.review_mac, end), end.mac)).length;
  }
  return forgedCount;
}

async function* pages<Row>(
  read: (after: string) => Promise<readonly Row[]>,
  idOf: (row: Row) => string,
): AsyncGenerator<readonly Row[]> {
  for (let after = FIRST_ID; ;) {
    const rows = await read(after);
    yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = idOf(last);
  }
}

async function* signedPages(
  executor: Executor,
  signer: AuditSigner,
  read: (after: string) => Promise<readonly ReviewRow[]>,
): AsyncGenerator<readonly StoredReview[]> {
  for await (const rows of pages(read, ({ review_id }) => review_id)) {
    yield await signedReviews(executor, signer, rows);
  }
}

async function* allOf(found: AsyncIterable<readonly StoredReview[]>): AsyncGenerator<StoredReview> {
  for await (const reviews of found) yield* reviews;
}

async function signedReviews(
  executor: Executor,
  { reviews }: AuditSigner,
  rows: readonly ReviewRow[],
): Promise<readonly StoredReview[]> {
  const signed = rows.flatMap((row) => {
    // guard(true): a review that a login of the database wrote is no review
    // fails: packages/server/src/audit/audit-secrets.test.ts › opens no review
    return reviews.isSigned(reviewValues(row), row.mac) ? [row] : [];
  });
  const ended = await findEnded(executor, reviews, signed);
  return signed.map((row) => ({ ...row, isClosed: ended.has(row.review_id) }));
}

/** The end of a review has the first id that no other row had. @returns the ids of the reviews that have an end. */
async function findEnded(
  executor: Executor,
  signer: RowSigner,
  reviews: readonly ReviewRow[],
): Promise<ReadonlySet<string>> {
  const ended = new Set<string>();
  let sought = reviews;
  for (let number = 0; sought.length > 0; number++) {
    const ids = new Map(sought.map((review) => [endIdOf(signer, review.mac, number), review]));
    const { rows } = await query(executor, FIND_ENDS, [[...ids.keys()]]);
    sought = rows.flatMap((end) => {
      const review = ids.get(end.end_id);
      if (!review) return [];
      // guard(false): an end that a login of the database wrote is no end
      // fails: packages/server/src/audit/audit-secrets.test.ts › was lost by a restore
      if (!signer.isSigned(endValues(review.mac, end), end.mac)) return [review];
      ended.add(review.review_id);
      return [];
    });
  }
  return ended;
}

/**
 * The id of an end of a review. A login of the database knows the ids of ends that a restore has lost, and of no other.
 * @param number of rows that have the id of an end of the review, and are none.
 */
const endIdOf = (signer: RowSigner, reviewMac: Buffer, number: number): string =>
  uuidText(signer.sign(["end id", reviewMac.toString("hex"), number]).subarray(0, 16));

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
 * An end that a restore lost can't be inserted again, because its row would have another time.
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
