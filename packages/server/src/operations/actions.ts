import {
  type ActionRow,
  type ListedAction,
  listActions as queryActions,
  registerAction as register,
  revokeAction as revoke,
} from "../ingest/actions/action-table.ts";
import { looksSigned } from "../ingest/actions/signed-actions.ts";
import { writeAudit } from "../audit/audit.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf } from "../access/identity/caller.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { isText, nextOf, pageOf } from "./list-page.ts";
import type { Operation } from "./operation.ts";

export const listActions: Operation<"listActions", "pool"> = async ({ ports, input }) => {
  const page = pageOf(input, [isText, isText]);
  const actions = await queryActions(ports.pool, input.account, page);
  const next = nextOf(actions, page, ({ registered_at, action_id, account }) => [registered_at, action_id, account]);
  return {
    answer: { actions: actions.map(shown), next },
    audit: { detail: { count: actions.length }, ...(input.account !== undefined && { account: input.account }) },
  };
};

function shown(listed: ListedAction): ActionRow {
  const { registered_at: _, ...action } = listed;
  return action;
}

type ChangePorts = "clock" | "keys.audit" | "pool";

export const registerAction: Operation<"registerAction", "config" | ChangePorts> = async ({ ports, caller, input }) => {
  const { pool, clock, config } = ports;
  const { account, action_id: actionId, session_id: sessionId } = input;
  if (actionId !== undefined && looksSigned(actionId) && config.actions.signingSecret) {
    throw new OperatorError(
      "wrong-usage",
      "Choose an id that does not start with `v1.`: while DRS_ACTION_SIGNING_SECRET is set, the server reads such an id " +
        "as a signed one, and rejects every event with it.",
    );
  }
  const wanted = {
    account,
    actionType: input.action_type,
    ttlMs: input.ttl_ms,
    ...(actionId !== undefined && { actionId }),
    ...(sessionId !== undefined && { sessionId }),
  };
  const { audit } = await ports.keys();
  const action = await inTransaction(pool, async (transaction) => {
    const row = await register(transaction, clock, wanted);
    if (!row) {
      throw new OperatorError(
        "state-conflict",
        "This account has an action of that id with another type or session, or it was revoked.",
      );
    }
    const detail = { action_id: row.action_id, action_type: row.action_type, expires_at: row.expires_at };
    const entry = { ...agentOf(caller), operation: "action.register", outcome: "done", account };
    await writeAudit(transaction, audit, { ...entry, detail });
    return row;
  });
  const { revoked_at: _, session_id, ...rest } = action;
  return { answer: session_id === null ? rest : { ...rest, session_id } };
};

export const revokeAction: Operation<"revokeAction", ChangePorts> = async ({ ports, caller, input }) => {
  const { pool, clock } = ports;
  const { account, action_id } = input;
  const { audit } = await ports.keys();
  await inTransaction(pool, async (transaction) => {
    const revoked = await revoke(transaction, clock, account, action_id);
    if (!revoked) throw new OperatorError("not-found", "There is no such active action of this account.");
    const entry = { ...agentOf(caller), operation: "action.revoke", outcome: "done", account };
    await writeAudit(transaction, audit, { ...entry, detail: { action_id } });
  });
  return { answer: { action_id } };
};
