import { writeAudit } from "../audit/audit.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf } from "../access/identity/caller.ts";
import { inTransaction } from "../store/postgres/database.ts";
import {
  issueToken as issue,
  listTokens as queryTokens,
  revokeToken as revoke,
} from "../ingest/sessions/opaque-tokens.ts";
import { nextOf, pageOf } from "./list-page.ts";
import type { Operation } from "./operation.ts";

export const listTokens: Operation<"listTokens", "pool"> = async ({ ports, input }) => {
  const page = pageOf(input);
  const tokens = await queryTokens(ports.pool, input.account, page);
  return {
    answer: { tokens: [...tokens], next: nextOf(tokens, page, ({ issued_at, token_id }) => [issued_at, token_id]) },
    audit: { detail: { count: tokens.length }, ...(input.account !== undefined && { account: input.account }) },
  };
};

type ChangePorts = "clock" | "keys.audit" | "pool";

export const issueToken: Operation<"issueToken", ChangePorts> = async ({ ports, caller, input }) => {
  const { pool, clock } = ports;
  const { account, ttl_ms } = input;
  const { audit } = await ports.keys();
  const answer = await inTransaction(pool, async (transaction) => {
    const token = await issue(transaction, clock, account, ttl_ms);
    const detail = { token_id: token.token_id, expires_at: token.expires_at };
    const entry = { ...agentOf(caller), operation: "token.issue", outcome: "done", account };
    await writeAudit(transaction, audit, { ...entry, detail });
    return token;
  });
  return { answer };
};

export const revokeToken: Operation<"revokeToken", ChangePorts> = async ({ ports, caller, input }) => {
  const { pool, clock } = ports;
  const { token_id } = input;
  const { audit } = await ports.keys();
  await inTransaction(pool, async (transaction) => {
    const account = await revoke(transaction, clock, token_id);
    if (account === undefined) throw new OperatorError("not-found", `There is no active token ${token_id}.`);
    const entry = { ...agentOf(caller), operation: "token.revoke", outcome: "done", account };
    await writeAudit(transaction, audit, { ...entry, detail: { token_id } });
  });
  return { answer: { token_id } };
};
