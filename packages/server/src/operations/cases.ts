import type { Answer, Input } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import {
  type CaseRow,
  type CaseSubject,
  closeCase as close,
  listCases as queryCases,
  openCase as open,
} from "../access/cases/case-table.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { findAttributes } from "../store/events/read-events.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { invalid, reasonOf } from "./input.ts";
import { nextOf, pageOf } from "./list-page.ts";
import type { Operation } from "./operation.ts";
import type { Ports } from "./ports.ts";

type ChangePorts = "clock" | "keys.audit" | "pool";

export const openCase: Operation<"openCase", "config" | ChangePorts> = async ({ ports, caller, input }) => {
  const { pool, clock, config } = ports;
  const { audit } = await ports.keys();
  const wanted = {
    person: caller.person,
    category: input.category,
    ticket: input.ticket,
    reason: reasonOf(input.reason, config),
    covers: await subjectOf(ports, input),
  };
  const opened = await inTransaction(pool, async (transaction) => {
    const row = await open(transaction, clock, wanted);
    await writeAudit(transaction, audit, caseEntry(caller, "case.open", row));
    return row;
  });
  return { answer: shown(opened) };
};

export const listCases: Operation<"listCases", "clock" | "pool"> = async ({ ports, caller, scope, input }) => {
  const filter = { person: scope === "own" ? caller.person : undefined, isOpen: input.open };
  const page = pageOf(input);
  const cases = await queryCases(ports.pool, ports.clock, filter, page);
  const next = nextOf(cases, page, ({ opened_at, case_id }) => [opened_at, case_id]);
  return { answer: { cases: cases.map(shown), next }, audit: { detail: { count: cases.length } } };
};

export const closeCase: Operation<"closeCase", ChangePorts> = async ({ ports, caller, input }) => {
  const { pool, clock } = ports;
  const { audit } = await ports.keys();
  const closed = await inTransaction(pool, async (transaction) => {
    const row = await close(transaction, clock, input.case_id, caller.person);
    if (!row) throw new OperatorError("not-found", `The caller has no open case ${input.case_id}.`);
    await writeAudit(transaction, audit, caseEntry(caller, "case.close", row));
    return row;
  });
  return { answer: shown(closed) };
};

/** The case as callers see it. A case of an event shows no account. */
const shown = (row: CaseRow): Answer<"closeCase"> => ({ ...row, account: row.scope === "event" ? null : row.account });

async function subjectOf(
  { pool }: Ports<"pool">,
  { account, action_id: actionId, event_id: eventId }: Input<"openCase">,
): Promise<CaseSubject> {
  if (eventId !== undefined && account === undefined && actionId === undefined) {
    const event = await findAttributes(pool, eventId.toLowerCase(), { includeRestricted: true });
    return { scope: "event", eventId, account: event?.account };
  }
  if (eventId === undefined && account !== undefined) {
    return actionId === undefined ? { scope: "account", account } : { scope: "action", account, actionId };
  }
  throw invalid("body", "give account, account with action_id, or event_id: what the case covers");
}

function caseEntry(caller: Caller, operation: string, row: CaseRow) {
  const { case_id, category, ticket, reason, scope, subject, account } = row;
  return {
    ...agentOf(caller),
    operation,
    outcome: "done",
    reason,
    category,
    caseId: case_id,
    ...(ticket !== null && { ticket }),
    ...(account !== null && { account }),
    ...(scope === "event" && { eventIds: [subject] }),
    ...(scope === "action" && { detail: { action_id: subject } }),
  };
}
