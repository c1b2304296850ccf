/** Reviews of audit entries. While a review is open, an erasure does not make reasons about its account unreadable. */
import { OperatorError } from "../errors/operator-error.ts";
import type { Executor, Transaction } from "../postgres/executor.ts";
import { instant } from "../postgres/instant.ts";
import { query, sql } from "../postgres/statement.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { obtainerSql, personsOfActor, personSql } from "./actor-persons.ts";
import { type Agent, writeAudit } from "./audit.ts";
import { REVIEW_OPERATION } from "./log/epoch.ts";
import { insertReview } from "./review-table.ts";

export interface ReviewRow {
  readonly review_id: string;
  readonly entry_id: string;
  readonly opened_at: string;
  /** The time at which the entry was written. Its actor and operation follow. */
  readonly at: string;
  readonly actor: string;
  readonly operation: string;
}

const LIST_OPEN_REVIEWS = sql(
  `select r.review_id, r.entry_id, ${instant("r.opened_at", "opened_at")}, ${instant("e.at", "at")}, e.actor, e.operation
    from audit_review r join audit_entry e on e.entry_id = r.entry_id
    where r.closed_at is null order by r.opened_at, r.review_id`,
  [],
  { review_id: "uuid", entry_id: "uuid", opened_at: "text", at: "text", actor: "text", operation: "text" },
);

/** Lists open reviews, oldest first. */
export async function listOpenReviews(executor: Executor): Promise<readonly ReviewRow[]> {
  return (await query(executor, LIST_OPEN_REVIEWS)).rows;
}

const FIND_OPEN_REVIEW = sql(
  "select entry_id from audit_review where review_id = $1 and closed_at is null for update",
  ["uuid"],
  { entry_id: "uuid" },
);
const CLOSE_REVIEW = sql(
  `update audit_review r set closed_at = transaction_time()
    from (select entry_id, array[${personSql("actor")}, ${obtainerSql("actor")}] as persons from audit_entry) e
    where r.review_id = $1 and r.closed_at is null and e.entry_id = r.entry_id
      -- guard(true): no person closes the review of what the same person did
      -- fails: packages/server/src/audit/audit-secrets.test.ts › of the person who wrote the entry
      and ($3 or not e.persons && $2)
    returning r.review_id`,
  ["uuid", "text[]", "bool"],
  { review_id: "uuid" },
);

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
  const reviewId = await insertReview(transaction, entryId);
  if (reviewId === undefined) throw new OperatorError("not-found", `There is no audit entry ${entryId}.`);
  await auditReview(transaction, signer, order, "opened", { review_id: reviewId, entry_id: entryId });
  return reviewId;
}

/**
 * @returns whether the review is closed. If not, the close was refused, and an entry records this. @throws not-found
 */
export async function closeReview(
  transaction: Transaction,
  signer: AuditSigner,
  reviewId: string,
  { isAlone, ...order }: ReviewEnd,
): Promise<boolean> {
  const [review] = (await query(transaction, FIND_OPEN_REVIEW, [reviewId])).rows;
  if (!review) throw new OperatorError("not-found", `There is no open review ${reviewId}.`);
  const { rowCount } = await query(transaction, CLOSE_REVIEW, [
    reviewId,
    [...personsOfActor(order.agent.actor)],
    isAlone,
  ]);
  const outcome = rowCount === 1 ? "closed" : "denied";
  await auditReview(transaction, signer, order, outcome, { review_id: reviewId, entry_id: review.entry_id });
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
