/** Rows of reviews, for writers of entries that need one from the start. */
import { randomUUID } from "node:crypto";
import type { Executor } from "../postgres/executor.ts";
import { query, sql } from "../postgres/statement.ts";

const INSERT_REVIEW = sql(
  `insert into audit_review (review_id, entry_id, subject, opened_at)
    select $1, entry_id, subject, transaction_time() from audit_entry where entry_id = $2`,
  ["uuid", "uuid"],
);

/** @returns the id of the review; `undefined` if the entry does not exist. */
export async function insertReview(executor: Executor, entryId: string): Promise<string | undefined> {
  const reviewId = randomUUID();
  const { rowCount } = await query(executor, INSERT_REVIEW, [reviewId, entryId]);
  return rowCount === 0 ? undefined : reviewId;
}
