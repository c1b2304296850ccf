/** Places and lifts restrictions: checks the order, applies it, and writes the audit entry. */
import { type Agent, writeAudit } from "../../audit/audit.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import {
  placeAndRecordRestriction,
  liftAndRecordRestriction,
  type RestrictionOrder,
  type RestrictionOrderPorts,
} from "../restrictions/restriction-orders.ts";
import type { Lift, LiftedRestriction, PlacedRestriction } from "../restrictions/restrictions.ts";
import { findPurposeCode } from "../../purposes/policy-table.ts";
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { findRequest } from "./data-requests.ts";
import type { AuditSigner } from "../../audit/audit-signer.ts";
import { findAccountKnowledge } from "./known-account.ts";

export interface AskedRestriction extends Omit<RestrictionOrder, "purpose" | "actor"> {
  /** Id of the purpose that is restricted; `undefined` restricts all purposes. */
  readonly purpose: string | undefined;
}

export interface AuditedRestrictionPorts extends RestrictionOrderPorts {
  readonly audit: AuditSigner;
}

/**
 * Places a restriction and writes its audit entry.
 * @throws not-found if the account or the purpose is unknown, or if the account has no open request of this kind with
 * the id; what `placeAndRecordRestriction` throws
 */
export async function restrictAccount(
  executor: OwnerTransaction,
  ports: AuditedRestrictionPorts,
  asked: AskedRestriction,
  agent: Agent,
): Promise<PlacedRestriction> {
  const { account, article, reason, approver, requestId } = asked;
  await requireKnown(executor, ports.pseudonymizer, account);
  await requireRequest(executor, asked);
  const purpose = await findPurpose(executor, asked.purpose);
  const placed = await placeAndRecordRestriction(executor, ports, { ...asked, purpose, actor: agent.actor });
  const detail = { ...placed, article, purpose: asked.purpose, approver, request_id: requestId };
  const entry = { ...agent, operation: "restriction.add", outcome: "done", account, reason, detail };
  await writeAudit(executor, ports.audit, entry);
  return placed;
}

async function requireKnown(executor: Executor, pseudonymizer: Pseudonymizer, account: string): Promise<void> {
  // guard(false): a name that is misspelt is not restricted
  if ((await findAccountKnowledge(executor, pseudonymizer, account)) === "unknown") {
    throw new OperatorError("not-found", "Nothing is known of this account: check the spelling.");
  }
}

const KIND_OF_ARTICLE = { 18: "restriction", 21: "objection" } as const;

async function requireRequest(
  executor: Executor,
  { account, article, requestId }: Pick<AskedRestriction, "account" | "article" | "requestId">,
): Promise<void> {
  if (requestId === undefined) return;
  const found = await findRequest(executor, requestId);
  const kind = KIND_OF_ARTICLE[article];
  // guard(false): a restriction names an open request of its own account and article
  if (found?.closed_at !== null || found.account !== account || found.kind !== kind) {
    throw new OperatorError(
      "not-found",
      `There is no request ${requestId} of this account that is open and of kind ${kind}.`,
    );
  }
}

async function findPurpose(executor: Executor, id: string | undefined): Promise<RestrictionOrder["purpose"]> {
  if (id === undefined) return undefined;
  const code = await findPurposeCode(executor, id);
  if (code === undefined) throw new OperatorError("not-found", "There is no such purpose: see drs purpose list.");
  return { id, code };
}

/**
 * Lifts a restriction and writes its audit entry.
 * @throws not-found if no active restriction has the id; what `liftAndRecordRestriction` throws
 */
export async function liftAccountRestriction(
  executor: OwnerTransaction,
  ports: AuditedRestrictionPorts,
  restrictionId: string,
  lift: Omit<Lift, "actor">,
  agent: Agent,
): Promise<LiftedRestriction> {
  const lifted = await liftAndRecordRestriction(executor, ports, restrictionId, { ...lift, actor: agent.actor });
  if (!lifted) throw new OperatorError("not-found", `There is no active restriction ${restrictionId}.`);
  const detail = { restriction_id: restrictionId, informed_on: lift.informedOn, events: lifted.events };
  const entry = { ...agent, operation: "restriction.lift", outcome: "done", reason: lift.reason, detail };
  await writeAudit(executor, ports.audit, {
    ...entry,
    ...(lifted.account !== undefined && { account: lifted.account }),
  });
  return lifted;
}
