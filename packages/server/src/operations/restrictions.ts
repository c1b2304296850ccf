import type { Input } from "@device-risk-signals/admin-api";
import { agentOf } from "../access/identity/caller.ts";
import { writeAudit } from "../audit/audit.ts";
import type { AuditSigner } from "../audit/audit-signer.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { findAccountKnowledge } from "../lifecycle/requests/known-account.ts";
import { findRequest } from "../lifecycle/requests/request-table.ts";
import {
  liftAndRecordRestriction,
  placeAndRecordRestriction,
  type RestrictionOrderPorts,
} from "../lifecycle/restrictions/restriction-orders.ts";
import { listRestrictions as queryRestrictions } from "../lifecycle/restrictions/restriction-table.ts";
import { requirePurposeCode, readPurposeIds } from "../purposes/policy-table.ts";
import type { Pseudonymizer } from "../store/crypto/pseudonymizer.ts";
import type { Executor, OwnerTransaction } from "../store/postgres/executor.ts";
import { auditedDryRun, invalid, reasonOf, trimmedTextOf } from "./input.ts";
import type { Operation } from "./operation.ts";
import { type OrderPorts, runJournalOrder } from "./journal-orders.ts";
import type { Ports } from "./ports.ts";

type ListPorts = "keys.pseudonymizer" | "pool";

export const listRestrictions: Operation<"listRestrictions", ListPorts> = async ({ ports, input }) => {
  const { pool, keys } = ports;
  const { account } = input;
  const mac = account === undefined ? undefined : (await keys()).pseudonymizer.restrictedAccountOf(account);
  const purposes = await readPurposeIds(pool);
  const restrictions = (await queryRestrictions(pool, mac)).map((row) => {
    return { ...row, purpose: row.purpose === null ? null : (purposes.get(row.purpose) ?? String(row.purpose)) };
  });
  return {
    answer: { restrictions },
    audit: { detail: { count: restrictions.length }, ...(account !== undefined && { account }) },
  };
};

type ChangePorts = "config" | OrderPorts;

export const addRestriction: Operation<"addRestriction", ChangePorts> = async ({ ports, caller, input }) => {
  const { account, purpose: id, article, request_id: requestId, dry_run: isDryRun = false } = input;
  const reason = reasonOf(input.reason, ports.config);
  const approver = input.approver === undefined ? undefined : trimmedTextOf("body/approver", input.approver);
  if (approver === undefined && requestId === undefined) {
    throw invalid("body", "give approver or request_id: who decided the restriction");
  }
  const agent = agentOf(caller);
  const answer = await inRestrictionOrder(ports, isDryRun, async (owner, audit, orderPorts) => {
    await requireKnown(owner, orderPorts.pseudonymizer, account);
    await requireRequest(owner, input);
    const purpose = id === undefined ? undefined : { id, code: await requirePurposeCode(owner, id) };
    const order = { account, article, reason, approver, requestId, purpose, actor: agent.actor };
    const placed = await placeAndRecordRestriction(owner, orderPorts, order);
    const detail = { ...placed, article, purpose: id, approver, request_id: requestId };
    await writeAudit(owner, audit, {
      ...agent,
      operation: "restriction.add",
      outcome: "done",
      account,
      reason,
      detail,
    });
    return placed;
  });
  return { answer, ...(isDryRun && auditedDryRun({ account })) };
};

/** @throws not-found */
async function requireKnown(executor: Executor, pseudonymizer: Pseudonymizer, account: string): Promise<void> {
  // guard(false): a name that is misspelt is not restricted
  if ((await findAccountKnowledge(executor, pseudonymizer, account)) === "unknown") {
    throw new OperatorError("not-found", "Nothing is known of this account: check the spelling.");
  }
}

const KIND_OF_ARTICLE = { 18: "restriction", 21: "objection" } as const;

/** @throws not-found */
async function requireRequest(executor: Executor, { account, article, request_id }: Asked): Promise<void> {
  if (request_id === undefined) return;
  const found = await findRequest(executor, request_id);
  const kind = KIND_OF_ARTICLE[article];
  // guard(false): a restriction names an open request of its own account and article
  if (found?.closed_at !== null || found.account !== account || found.kind !== kind) {
    throw new OperatorError(
      "not-found",
      `There is no request ${request_id} of this account that is open and of kind ${kind}.`,
    );
  }
}

type Asked = Input<"addRestriction">;

type LiftPorts = "clock" | ChangePorts;

export const liftRestriction: Operation<"liftRestriction", LiftPorts> = async ({ ports, caller, input }) => {
  const { restriction_id, informed_on, dry_run: isDryRun = false } = input;
  const reason = reasonOf(input.reason, ports.config);
  if (Date.parse(informed_on) > ports.clock.now()) throw invalid("body/informed_on", "must not be after today");
  const agent = agentOf(caller);
  const events = await inRestrictionOrder(ports, isDryRun, async (owner, audit, orderPorts) => {
    const lift = { informedOn: informed_on, reason, actor: agent.actor };
    const lifted = await liftAndRecordRestriction(owner, orderPorts, restriction_id, lift);
    if (!lifted) throw new OperatorError("not-found", `There is no active restriction ${restriction_id}.`);
    const { account } = lifted;
    const detail = { restriction_id, informed_on, events: lifted.events };
    const entry = { ...agent, operation: "restriction.lift", outcome: "done", reason, detail };
    await writeAudit(owner, audit, { ...entry, ...(account !== undefined && { account }) });
    return lifted.events;
  });
  return { answer: { restriction_id, events }, ...(isDryRun && auditedDryRun({ detail: { restriction_id } })) };
};

const inRestrictionOrder = <T>(
  ports: Ports<OrderPorts>,
  isDryRun: boolean,
  work: (owner: OwnerTransaction, audit: AuditSigner, orderPorts: RestrictionOrderPorts) => Promise<T>,
): Promise<T> =>
  runJournalOrder(
    ports,
    (owner, audit, orderPorts) => {
      const { pseudonymizer, ...journal } = orderPorts();
      return work(owner, audit, { clock: audit.clock, pseudonymizer, journal: isDryRun ? undefined : journal });
    },
    isDryRun,
  );
