/** Reviews of audit entries. While a review is open, an erasure does not make reasons about its account unreadable. */
import { OperatorError } from "../base/errors/operator-error.ts";
import { lockTransactionNamed } from "../store/postgres/advisory-locks.ts";
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import { query, queryRow, sql } from "../store/postgres/statement.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { isSamePerson } from "./actor-persons.ts";
import { type Agent, UNVERIFIED_ACTOR, writeAudit } from "./audit.ts";
import { REVIEW_OPERATION } from "./log/epoch.ts";
import { lockAuditSecrets } from "./audit-secrets.ts";
import { findOpenReview, findReviewedEntry, insertEnd, insertReview, readReviews } from "./review-table.ts";

export interface ReviewRow {
  readonly review_id: string;
  readonly entry_id: string;
  readonly opened_at: string;
  /** The time at which the entry was written. Its actor and operation follow. */
  readonly at: string;
  readonly actor: string;
  readonly operation: string;
}

/** The actor is `null` for an entry with an invalid MAC, which is no person's act. */
const ACTOR = "case when l.verified is distinct from false then e.actor end as actor";
const ENTRIES = "audit_entry e left join audit_leaf l on l.entry_id = e.entry_id";

const LIST_ENTRIES = sql(
  `select e.entry_id, ${instant("e.at", "at")}, ${ACTOR}, e.operation from ${ENTRIES} where e.entry_id = any ($1)`,
  ["uuid[]"],
  { entry_id: "uuid", at: "text", actor: "text?", operation: "text" },
);

/** Lists open reviews, oldest first. */
export async function listOpenReviews(executor: Executor, signer: AuditSigner): Promise<readonly ReviewRow[]> {
  const openReviews = (await readReviews(executor, signer)).filter(({ isClosed }) => !isClosed);
  const { rows } = await query(executor, LIST_ENTRIES, [openReviews.map(({ entry_id }) => entry_id)]);
  const entries = new Map(rows.map((row) => [row.entry_id, row]));
  return openReviews
    .flatMap(({ review_id, opened_at, entry_id }) => {
      const entry = entries.get(entry_id);
      return entry ? [{ review_id, opened_at, ...entry, actor: entry.actor ?? UNVERIFIED_ACTOR }] : [];
    })
    .toSorted((one, other) => (one.opened_at < other.opened_at ? -1 : 1));
}

const FIND_REVIEWED = sql(
  `select ${ACTOR}, encode(l.hash, 'hex') as leaf from ${ENTRIES} where e.entry_id = $1`,
  ["uuid"],
  { actor: "text?", leaf: "text?" },
);

/** Who opens or closes a review, and why. */
export interface ReviewOrder {
  readonly agent: Agent;
  readonly reason: string;
}

export interface ReviewEnd extends ReviewOrder {
  /** Whether a person may close the review of their own entry, because there is no other person. */
  readonly isAlone: boolean;
}

/** @returns the id of the review. @throws not-found */
export async function openReview(
  transaction: Transaction,
  signer: AuditSigner,
  entryId: string,
  order: ReviewOrder,
): Promise<string> {
  const entry = await findReviewedEntry(transaction, entryId);
  if (!entry) throw new OperatorError("not-found", `There is no audit entry ${entryId}.`);
  // guard(drop): the destruction of a secret sees a review that is being opened
  if (entry.subject) await lockAuditSecrets(transaction, entry.subject);
  const reviewId = await insertReview(transaction, signer, entry);
  await auditReview(transaction, signer, order, "opened", { review_id: reviewId, entry_id: entryId });
  return reviewId;
}

/**
 * Closes a review, unless the person wrote the reviewed entry and is not alone. An entry records the close or its
 * denial.
 * @returns whether the review was closed. @throws not-found
 */
export async function closeReview(
  transaction: Transaction,
  signer: AuditSigner,
  reviewId: string,
  { isAlone, ...order }: ReviewEnd,
): Promise<boolean> {
  await lockTransactionNamed(transaction, LOCKS.auditReviews, reviewId.toLowerCase());
  const review = await findOpenReview(transaction, signer, reviewId);
  if (!review) throw new OperatorError("not-found", `There is no open review ${reviewId}.`);
  const { actor, leaf } = await queryRow(transaction, FIND_REVIEWED, [review.entry_id]);
  // guard(true): no person closes the review of what the same person did
  const outcome = isAlone || actor === null || !isSamePerson(actor, order.agent.actor) ? "closed" : "denied";
  if (outcome === "closed") await insertEnd(transaction, signer, review);
  const references = { review_id: reviewId, entry_id: review.entry_id };
  await auditReview(transaction, signer, order, outcome, { ...references, ...(leaf !== null && { leaf_hash: leaf }) });
  return outcome === "closed";
}

async function auditReview(
  transaction: Transaction,
  signer: AuditSigner,
  { agent, reason }: ReviewOrder,
  outcome: "opened" | "closed" | "denied",
  references: Readonly<Record<string, string>>,
): Promise<void> {
  await writeAudit(transaction, signer, { ...agent, operation: REVIEW_OPERATION, outcome, reason, references });
}
