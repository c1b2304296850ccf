/** Reviews of audit entries. */
import { closeReview as close, listOpenReviews, openReview as open } from "../audit/reviews.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf } from "../access/identity/caller.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { reasonOf } from "./input.ts";
import type { Operation } from "./operation.ts";

export const listReviews: Operation<"listReviews", "keys.audit" | "pool"> = async ({ ports }) => {
  const { audit } = await ports.keys();
  const reviews = await listOpenReviews(ports.pool, audit);
  return { answer: { reviews: [...reviews] }, audit: { detail: { count: reviews.length } } };
};

type ChangePorts = "config" | "keys.audit" | "pool";

export const openReview: Operation<"openReview", ChangePorts> = async ({ ports, caller, input }) => {
  const { audit } = await ports.keys();
  const order = { agent: agentOf(caller), reason: reasonOf(input.reason, ports.config) };
  const review_id = await inTransaction(ports.pool, (transaction) => open(transaction, audit, input.entry_id, order));
  return { answer: { review_id } };
};

export const closeReview: Operation<"closeReview", ChangePorts> = async ({ ports, caller, input }) => {
  const { pool, config } = ports;
  const { review_id } = input;
  const { audit } = await ports.keys();
  const isAlone = config.service.approvals === "off";
  const order = { agent: agentOf(caller), reason: reasonOf(input.reason, config), isAlone };
  if (!(await inTransaction(pool, (transaction) => close(transaction, audit, review_id, order)))) {
    throw new OperatorError(
      "state-conflict",
      "A person can't close the review of their own action: another person must. An installation of one person sets DRS_APPROVALS=off.",
    );
  }
  return { answer: { review_id } };
};
