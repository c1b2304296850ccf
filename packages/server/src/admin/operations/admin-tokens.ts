import { writeAudit } from "../../audit/audit.ts";
import { OperatorError } from "../../errors/operator-error.ts";
import { listAdminTokens as queryTokens, revokeAdminToken as revoke } from "../../identity/admin-tokens.ts";
import { agentOf } from "../../identity/caller.ts";
import { inTransaction } from "../../postgres/database.ts";
import { nextOf, pageOf } from "./list-page.ts";
import type { Operation } from "./operation.ts";

export const listAdminTokens: Operation<"listAdminTokens"> = async ({ ports, input }) => {
  const page = pageOf(input);
  const tokens = await queryTokens(ports.pool, page);
  const next = nextOf(tokens, page, ({ issued_at, token_id }) => [issued_at, token_id]);
  return { answer: { tokens, next }, audit: { detail: { count: tokens.length } } };
};

export const revokeAdminToken: Operation<"revokeAdminToken"> = async ({ ports, caller, input }) => {
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
