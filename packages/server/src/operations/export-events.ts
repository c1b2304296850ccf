import { type Input, routeOf } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import { type CaseRow, findOpenCase } from "../access/cases/case-table.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { beginEventExport, countSelected, type EventSelection } from "../features/exports/export-events.ts";
import { agentOf } from "../access/identity/caller.ts";
import type { Pseudonymizer } from "../store/crypto/pseudonymizer.ts";
import { plural } from "../base/messages/plural.ts";
import { type Approval, type ApprovalPorts, areApprovalsNeeded, requireApproval } from "./approvals.ts";
import { auditNotFound } from "./audit-around.ts";
import { linesOf } from "./exports.ts";
import { invalid, requireFuture, trimmedTextOf } from "./input.ts";
import type { Operation, OperationCall } from "./operation.ts";
import { type ReplayedPorts, requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";

type StoredPorts = `installation.${"audit" | "pool" | "pseudonymizer" | "sealer"}` | ReplayedPorts;
type ExportPorts = "administration" | "report" | ApprovalPorts | StoredPorts;
type Call = OperationCall<"exportEvents", ExportPorts>;

export const exportEvents: Operation<"exportEvents", ExportPorts> = async (call) => {
  const { ports, caller, input } = call;
  const recipient = trimmedTextOf("body/recipient", input.recipient);
  requireFuture("body/expires_on", input.expires_on, ports.clock);
  const selection = selectionOf(input, ports.clock.now());
  // A worker applies this operation, because only its login may read the payloads of many events at once.
  const { pool, audit, sealer, pseudonymizer } = await requireReplayedJournal(ports);
  const opened = await requireCase(call);
  const counts = await countSelected(ports.pool, selection, opened);
  const detail = { ...selectedBy(input), ...counts };
  const { account } = input;
  if (counts.events === 0) {
    await auditNotFound(call, "exportEvents", { detail, ...(account !== undefined && { account }) });
    throw new OperatorError("not-found", "No event is selected that may be exported.");
  }
  const approval = await approvalOf(call, opened, { recipient, counts, pseudonymizer });
  const onProgress = (events: number): void => ports.report(plural(events, "event"));
  const { administration, clock } = ports;
  const parts = await beginEventExport(
    { pool, administration, audit, sealer, pseudonymizer, clock, onProgress },
    {
      selection,
      detail,
      account,
      events: counts.events,
      case: opened,
      recipient,
      expiresOn: input.expires_on,
      agent: { ...agentOf(caller), ...(approval && { approvalId: approval.id }) },
    },
    async (owner) => approval?.use(owner, counts.events),
  );
  return { answer: linesOf(parts) };
};

/** The events that the call selects. Without ids, events that arrive after `now` are not selected. */
function selectionOf(input: Input<"exportEvents">, now: number): EventSelection {
  const { account, action_id: actionId, action_type: actionType, event_ids: ids, from, to } = input;
  const isFiltered = [account, actionId, actionType, from].some((value) => value !== undefined);
  if (ids === undefined ? !isFiltered : isFiltered || to !== undefined) {
    throw invalid("body", "give at least one of account, action_id, action_type and from, or only event_ids");
  }
  if (ids) return { eventIds: ids.map((id) => id.toLowerCase()) };
  return {
    filter: {
      ...(account !== undefined && { account }),
      ...(actionId !== undefined && { actionId }),
      ...(actionType !== undefined && { actionType }),
      ...(from !== undefined && { from: Date.parse(from) }),
      to: Math.min(now, to === undefined ? now : Date.parse(to)),
    },
  };
}

/** The members of the input that select events, except the account. */
const selectedBy = ({ action_id, action_type, event_ids, from, to }: Input<"exportEvents">) => ({
  ...(action_id !== undefined && { action_id }),
  ...(action_type !== undefined && { action_type }),
  ...(event_ids && { event_ids }),
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});

/** @throws AdminError case-invalid if no open case of the caller has the id. */
async function requireCase({ ports, caller, input: { case_id } }: Call): Promise<CaseRow> {
  const openedCase = await findOpenCase(ports.pool, ports.clock, case_id, caller.person);
  if (openedCase) return openedCase;
  throw await denied({ ports, caller }, case_id);
}

/**
 * Writes the entry of a rejected export, because no other code writes it if a worker applies the export.
 * @returns the error.
 */
async function denied(
  { ports, caller }: Pick<Call, "ports" | "caller">,
  caseId: string,
  detail?: string,
): Promise<AdminError> {
  const { operation } = routeOf("exportEvents");
  const { audit } = await ports.keys();
  await writeAudit(ports.pool, audit, { ...agentOf(caller), operation, outcome: "denied", caseId });
  const error = new AdminError("case-invalid", detail === undefined ? {} : { detail });
  error.isAudited = true;
  return error;
}

interface Asked {
  readonly recipient: string;
  readonly counts: Awaited<ReturnType<typeof countSelected>>;
  readonly pseudonymizer: Pseudonymizer;
}

/**
 * Requires an approval by a second person with the role privacy, who sees how many events are exported, and how many of
 * them the case does not cover. The approval names account and action by their MACs, because it remains after their
 * erasure.
 * @throws AdminError case-invalid if the case does not cover all events and no approval can be asked for, because
 * approvals are off or the caller is a command on the database.
 * @throws approval-needed
 */
async function approvalOf(
  { ports, caller, input }: Call,
  { case_id }: CaseRow,
  { recipient, counts, pseudonymizer }: Asked,
): Promise<Approval | undefined> {
  // guard(false): events beyond the case need an approval, even where other operations need none
  if (counts.beyond_case > 0 && !areApprovalsNeeded(ports, caller)) {
    throw await denied({ ports, caller }, case_id, `The case does not cover ${plural(counts.beyond_case, "event")}.`);
  }
  const { account, expires_on } = input;
  const { action_id, ...selected } = selectedBy(input);
  const macOf = (kind: string, name: string): string => pseudonymizer.subjectOf(kind, name).toString("hex");
  const parameters = {
    ...selected,
    ...(account !== undefined && { account_mac: macOf("account", account) }),
    ...(action_id !== undefined && { action_mac: macOf("action", action_id) }),
    case_id,
    // guard(drop): an approval is for as many events beyond the case as privacy saw
    beyond_case: counts.beyond_case,
    recipient,
    expires_on,
  };
  const asked = {
    operation: "export.raw",
    parameters,
    plan: { ...counts },
    events: counts.events,
    isExact: true,
  } as const;
  // The approval only refers to the reason of the case: an erasure of the account deletes the reason, but not the
  // approval, which more roles may read.
  // guard(drop): raw bulk export was approved
  return requireApproval(ports, caller, { ...asked, needed: ["privacy"] }, `the reason of case ${case_id}`);
}
