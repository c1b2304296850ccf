/** Writes valid and invalid tokens and actions of accounts directly into the database of a server. */
import { registerAction, revokeAction } from "../../packages/server/src/ingest/actions/action-table.ts";
import { readConfig } from "../../packages/server/src/base/config/config.ts";
import { openSystem, type System } from "../../packages/server/src/runtime/system.ts";
import { issueToken, revokeToken } from "../../packages/server/src/ingest/sessions/opaque-tokens.ts";
import type { Credentials } from "./server.ts";
import { clockOf } from "./test-clock.ts";

export interface Parties {
  readonly good: Credentials;
  readonly other: Credentials;
  readonly expiredToken: string;
  readonly revokedToken: string;
  readonly expiredAction: string;
  readonly revokedAction: string;
  readonly otherType: string;
}

const HOUR_MS = 3_600_000;

export async function openTestSystem(environment: Readonly<Record<string, string>>): Promise<System> {
  const result = readConfig(environment, process.cwd());
  if (!result.ok) throw new Error(result.problems.join("\n"));
  const clock = clockOf(environment);
  return openSystem(result.config, { clock, asServer: false, environment, onError: () => {} });
}

/** Issues a token and registers an action. @param ttlMs how long both are valid */
export async function makeCredentials({ pool, clock }: System, account: string, ttlMs = HOUR_MS): Promise<Credentials> {
  const actionType = "payment";
  const sessionId = `session-of-${account}`;
  const { token } = await issueToken(pool, clock, account, ttlMs);
  const action = await registerAction(pool, clock, { account, actionType, sessionId, ttlMs });
  if (!action) throw new Error("no action");
  return { account, token, actionId: action.action_id, actionType, sessionId };
}

export async function makeParties(system: System): Promise<Parties> {
  const { pool, clock } = system;
  const good = await makeCredentials(system, "good");
  const other = await makeCredentials(system, "other");
  const past = { now: () => clock.now() - 2 * HOUR_MS };
  const { account, sessionId } = good;
  const common = { account, sessionId, actionType: "payment", ttlMs: HOUR_MS };
  const revoked = await issueToken(pool, clock, account, HOUR_MS);
  await revokeToken(pool, clock, revoked.token_id);
  await registerAction(pool, past, { ...common, actionId: "expired-action" });
  await registerAction(pool, clock, { ...common, actionId: "revoked-action" });
  await revokeAction(pool, clock, account, "revoked-action");
  await registerAction(pool, clock, { ...common, actionId: "other-type", actionType: "login" });
  return {
    good,
    other,
    expiredToken: (await issueToken(pool, past, account, HOUR_MS)).token,
    revokedToken: revoked.token,
    expiredAction: "expired-action",
    revokedAction: "revoked-action",
    otherType: "other-type",
  };
}
