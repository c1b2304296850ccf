import { listRestrictions as queryRestrictions } from "../lifecycle/restrictions/restrictions.ts";
import { agentOf } from "../access/identity/caller.ts";
import { readPurposeIds } from "../purposes/policy-table.ts";
import type { OwnerTransaction } from "../store/postgres/executor.ts";
import {
  type AuditedRestrictionPorts,
  liftAccountRestriction,
  restrictAccount,
} from "../lifecycle/requests/restrict-account.ts";
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
  const { account, purpose, article, request_id: requestId, dry_run: isDryRun = false } = input;
  const reason = reasonOf(input.reason, ports.config);
  const approver = input.approver === undefined ? undefined : trimmedTextOf("body/approver", input.approver);
  if (approver === undefined && requestId === undefined) {
    throw invalid("body", "give approver or request_id: who decided the restriction");
  }
  const asked = { account, purpose, article, reason, approver, requestId };
  const answer = await inRestrictionOrder(ports, isDryRun, (owner, order) =>
    restrictAccount(owner, order, asked, agentOf(caller)),
  );
  return { answer, ...(isDryRun && auditedDryRun({ account })) };
};

export const liftRestriction: Operation<"liftRestriction", "clock" | ChangePorts> = async ({
  ports,
  caller,
  input,
}) => {
  const { restriction_id, informed_on: informedOn, dry_run: isDryRun = false } = input;
  const reason = reasonOf(input.reason, ports.config);
  if (Date.parse(informedOn) > ports.clock.now()) throw invalid("body/informed_on", "must not be after today");
  const { events } = await inRestrictionOrder(ports, isDryRun, (owner, order) =>
    liftAccountRestriction(owner, order, restriction_id, { informedOn, reason }, agentOf(caller)),
  );
  return { answer: { restriction_id, events }, ...(isDryRun && auditedDryRun({ detail: { restriction_id } })) };
};

const inRestrictionOrder = <T>(
  ports: Ports<OrderPorts>,
  isDryRun: boolean,
  work: (owner: OwnerTransaction, order: AuditedRestrictionPorts) => Promise<T>,
): Promise<T> =>
  runJournalOrder(
    ports,
    (owner, audit, orderPorts) => {
      const { pseudonymizer, ...journal } = orderPorts();
      return work(owner, { clock: audit.clock, audit, pseudonymizer, journal: isDryRun ? undefined : journal });
    },
    isDryRun,
  );
