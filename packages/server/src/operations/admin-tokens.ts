import { writeAudit } from "../audit/audit.ts";
import { personsOfActor } from "../audit/actor-persons.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import {
  issueAdminToken as issue,
  listAdminTokens as queryTokens,
  revokeAdminToken as revoke,
  revokeTokensOf,
} from "../access/identity/admin-tokens.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import { inOwnerTransaction, inTransaction } from "../store/postgres/database.ts";
import { type ApprovalPorts, approveByPrivacy } from "./approvals.ts";
import { trimmedTextOf } from "./input.ts";
import { nextOf, pageOf } from "./list-page.ts";
import type { Operation } from "./operation.ts";
import { AdminError } from "./problem.ts";

export const listAdminTokens: Operation<"listAdminTokens", "pool"> = async ({ ports, input }) => {
  const page = pageOf(input);
  const tokens = await queryTokens(ports.pool, page);
  const next = nextOf(tokens, page, ({ issued_at, token_id }) => [issued_at, token_id]);
  return { answer: { tokens, next }, audit: { detail: { count: tokens.length } } };
};

export const issueAdminToken: Operation<"issueAdminToken", "administration" | ApprovalPorts> = async (call) => {
  const { ports, caller, input } = call;
  const { ttl_ms } = input;
  // guard(drop): the people behind a token are its person and the one who obtained it, and no chain of others
  requireOwnToken(caller);
  const person = trimmedTextOf("body/person", input.person);
  const roles = [...new Set(input.roles)];
  const { audit } = await ports.keys();
  const wanted = { person, roles, ttl_ms };
  const asked = { operation: "admin-token.issue", parameters: wanted, plan: wanted, events: 0 };
  const approval = await approveByPrivacy(call, asked, `a token for ${person}`);
  const issued = await inOwnerTransaction(ports.administration, async (owner) => {
    await approval?.use(owner, 0);
    const token = await issue(owner, ports.clock, {
      person,
      roles,
      ttlMs: ttl_ms,
      ...(caller.via !== "direct" && { obtainedBy: caller.person }),
    });
    const { token_id, expires_at } = token;
    const approved = approval && { approvalId: approval.id };
    const entry = { ...agentOf(caller), operation: "admin-token.issue", outcome: "done", ...approved };
    await writeAudit(owner, audit, { ...entry, detail: { token_id, person, roles, expires_at } });
    return token;
  });
  return { answer: { ...issued, roles } };
};

/** @throws AdminError permission-missing */
function requireOwnToken({ actor }: Caller): void {
  if (personsOfActor(actor).length === 1) return;
  throw new AdminError("permission-missing", {
    detail: "A token that another person obtained can't obtain a further token: that person must ask for it.",
  });
}

type RevokePorts = "clock" | "keys.audit" | "pool";

export const revokeAdminToken: Operation<"revokeAdminToken", RevokePorts> = async ({ ports, caller, input }) => {
  const { pool, clock } = ports;
  const { token_id } = input;
  const { audit } = await ports.keys();
  await inTransaction(pool, async (transaction) => {
    const person = await revoke(transaction, clock, token_id);
    if (person === undefined) throw new OperatorError("not-found", `There is no active admin token ${token_id}.`);
    const entry = { ...agentOf(caller), operation: "admin-token.revoke", outcome: "done" };
    await writeAudit(transaction, audit, { ...entry, detail: { token_id, person } });
  });
  return { answer: { token_id } };
};

export const revokeAdminTokensOf: Operation<"revokeAdminTokensOf", RevokePorts> = async ({ ports, caller, input }) => {
  const { person } = input;
  const { pool, clock } = ports;
  const { audit } = await ports.keys();
  const token_ids = await inTransaction(pool, async (transaction) => {
    const revoked = (await revokeTokensOf(transaction, clock, [person])).map(({ token_id }) => token_id);
    const entry = { ...agentOf(caller), operation: "admin-token.revoke", outcome: "done" };
    await writeAudit(transaction, audit, { ...entry, detail: { person, token_ids: revoked } });
    return revoked;
  });
  return { answer: { token_ids } };
};
