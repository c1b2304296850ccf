import { randomUUID } from "node:crypto";
import type { Answer, Input } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf } from "../access/identity/caller.ts";
import { type ErasureSubject, subjectMac } from "../lifecycle/erasure/plan-erasure.ts";
import {
  type HoldLift,
  type HoldOrderPorts,
  placeAndRecordHold,
  liftAndRecordHold,
  reviewAndRecordHold,
} from "../lifecycle/holds/hold-orders.ts";
import {
  countCovered,
  type HoldSubject,
  listHolds as queryHolds,
  type NewHold,
} from "../lifecycle/holds/hold-table.ts";
import type { OwnerTransaction } from "../store/postgres/executor.ts";
import { type Approval, type ApprovalPorts, approveByPrivacy, approveEvents } from "./approvals.ts";
import { auditedDryRun, invalid, reasonOf, requireFuture, trimmedTextOf } from "./input.ts";
import type { Operation, OperationCall } from "./operation.ts";
import { type OrderPorts, runJournalOrder } from "./journal-orders.ts";

export const listHolds: Operation<"listHolds", "pool"> = async ({ ports }) => {
  const holds = await queryHolds(ports.pool);
  return { answer: { holds: [...holds] }, audit: { detail: { count: holds.length } } };
};

type HoldPorts = "keys.pseudonymizer" | ApprovalPorts | OrderPorts;

export const addHold: Operation<"addHold", HoldPorts> = async (call) => {
  const { ports, input } = call;
  const { clock, config } = ports;
  const { review_on: reviewOn, dry_run: isDryRun = false } = input;
  const subject = subjectOf(input);
  const reason = reasonOf(input.reason, config);
  const approver = trimmedTextOf("body/approver", input.approver);
  requireFuture("body/review_on", reviewOn, clock);
  const hold = { subject, reason, approver, reviewOn, includeRestricted: call.scope === "full" };
  if (isDryRun) return { answer: await plan(call, hold), ...auditedDryRun(auditSubject(subject)) };
  return { answer: await place(call, hold, await approvalOf(call, hold)) };
};

type WantedHold = Omit<NewHold, "actor">;
type Placed = Answer<"addHold">;

const place = (call: OperationCall<"addHold", OrderPorts>, hold: WantedHold, approval?: Approval): Promise<Placed> =>
  runJournalOrder(call.ports, async (owner, audit, orderPorts) => {
    // The approval is used first: if it can't be used, the journal must not get the order.
    await approval?.use(owner, 0);
    const placed = await placeKnown(call, owner, orderPorts(), hold);
    const { subject, reason, approver, reviewOn } = hold;
    const detail = { ...placed, ...auditDetail(subject), approver, review_on: reviewOn };
    const entry = { ...agentOf(call.caller), operation: "hold.add", outcome: "done", reason, ...auditSubject(subject) };
    await writeAudit(owner, audit, { ...entry, ...(approval && { approvalId: approval.id }), detail });
    return placed;
  });

/** A person who may not learn of restricted events does not learn either that an erased event waits for its deletion. */
const plan = (call: OperationCall<"addHold", OrderPorts>, hold: WantedHold): Promise<Placed> =>
  runJournalOrder(
    call.ports,
    async (owner) => {
      if (hold.includeRestricted) return placeKnown(call, owner, undefined, hold);
      const events = await countCovered(owner, hold);
      if (events === undefined) throw unknownSubject();
      return { hold_id: randomUUID(), events };
    },
    true,
  );

/** @throws not-found */
async function placeKnown(
  { caller }: Pick<OperationCall<"addHold">, "caller">,
  owner: OwnerTransaction,
  orderPorts: HoldOrderPorts | undefined,
  hold: WantedHold,
): Promise<Placed> {
  const placed = await placeAndRecordHold(owner, orderPorts, { ...hold, actor: agentOf(caller).actor });
  if (placed) return placed;
  throw unknownSubject();
}

const unknownSubject = (): OperatorError =>
  new OperatorError("not-found", "Nothing is known of this subject: check the spelling.");

/**
 * Requires an approval if the caller's permission needs one. The approval names the subject by its MAC, because an
 * erasure deletes no approval.
 */
async function approvalOf(call: OperationCall<"addHold", HoldPorts>, hold: WantedHold): Promise<Approval | undefined> {
  if (call.scope !== "with-approval") return undefined;
  const { subject, reason, approver, reviewOn } = hold;
  const { pseudonymizer } = await call.ports.keys();
  const subject_mac = subjectMac(pseudonymizer, erasureSubjectOf(subject)).toString("hex");
  const parameters = { of: subject.of, subject_mac, reason, approver, review_on: reviewOn };
  const { events } = await plan(call, hold);
  return approveByPrivacy(call, { operation: "hold.add", parameters, plan: { events }, events: 0 }, reason);
}

function erasureSubjectOf({ of, value }: HoldSubject): ErasureSubject {
  if (of === "account") return { kind: "account", account: value };
  return of === "action_id" ? { kind: "action", actionId: value } : { kind: "event", eventId: value };
}

type ReviewPorts = "clock" | "config" | OrderPorts;

export const reviewHold: Operation<"reviewHold", ReviewPorts> = async ({ ports, caller, input }) => {
  const { clock, config } = ports;
  const { hold_id, review_on, dry_run: isDryRun = false } = input;
  const reason = input.reason === undefined ? undefined : reasonOf(input.reason, config);
  const approver = trimmedTextOf("body/approver", input.approver);
  requireFuture("body/review_on", review_on, clock);
  await runJournalOrder(
    ports,
    async (owner, audit, orderPorts) => {
      if (
        !(await reviewAndRecordHold(owner, isDryRun ? undefined : orderPorts(), hold_id, {
          reviewOn: review_on,
          approver,
        }))
      )
        throw noHold(hold_id);
      const detail = { hold_id, review_on, approver };
      const entry = { ...agentOf(caller), operation: "hold.review", outcome: "done", detail };
      await writeAudit(owner, audit, { ...entry, ...(reason !== undefined && { reason }) });
    },
    isDryRun,
  );
  return { answer: { hold_id, review_on }, ...(isDryRun && auditedDryRun({ detail: { hold_id } })) };
};

export const liftHold: Operation<"liftHold", ApprovalPorts | OrderPorts> = async ({ ports, caller, input }) => {
  const { hold_id, dry_run: isDryRun = false } = input;
  const reason = reasonOf(input.reason, ports.config);
  const agent = agentOf(caller);
  const lift = { actor: agent.actor, reason };
  const lifted = async (owner: OwnerTransaction, orderPorts?: HoldOrderPorts, by: HoldLift = lift): Promise<number> => {
    const events = await liftAndRecordHold(owner, orderPorts, hold_id, by);
    if (events === undefined) throw noHold(hold_id);
    return events;
  };
  const planned = await runJournalOrder(ports, (owner) => lifted(owner), true);
  if (isDryRun) {
    return { answer: { hold_id, events_released: planned }, ...auditedDryRun({ detail: { hold_id } }) };
  }
  const plan = { hold_id, events_released: planned };
  const wanted = { operation: "hold.lift", parameters: { hold_id, reason }, plan, events: planned };
  const approval = await approveEvents(ports, caller, wanted, reason);
  const events_released = await runJournalOrder(ports, async (owner, audit, orderPorts) => {
    const onReleased = (events: number): Promise<void> => approval.confirm(owner, events);
    const events = await lifted(owner, orderPorts(), { ...lift, onReleased });
    const entry = { ...agent, operation: "hold.lift", outcome: "done", reason };
    const detail = { hold_id, events_released: events };
    await writeAudit(owner, audit, { ...entry, ...(approval.id !== undefined && { approvalId: approval.id }), detail });
    return events;
  });
  return { answer: { hold_id, events_released } };
};

function subjectOf({ account, action_id, event_id }: Input<"addHold">): HoldSubject {
  const subjects = Object.entries({ account, action_id, event_id }).filter(
    (pair): pair is [HoldSubject["of"], string] => pair[1] !== undefined,
  );
  const [one, another] = subjects;
  if (one && !another) return { of: one[0], value: one[1] };
  throw invalid("body", "one of account, action_id and event_id says what is held");
}

function auditSubject({ of, value }: HoldSubject): { account?: string; eventIds?: [string] } {
  if (of === "action_id") return {};
  return of === "account" ? { account: value } : { eventIds: [value] };
}

/** The detail names only an action; `auditSubject` puts an account or an event into other members of the entry. */
const auditDetail = ({ of, value }: HoldSubject): object => (of === "action_id" ? { action_id: value } : {});

const noHold = (holdId: string): OperatorError => new OperatorError("not-found", `There is no active hold ${holdId}.`);
