import { isLoopback } from "../config/rules.ts";
import { type ActionRow, registerAction } from "../actions/action-table.ts";
import { EVENTS_PATH } from "../http/paths.ts";
import type { System } from "../app/system.ts";
import type { Clock } from "../ports.ts";
import { type IssuedToken, issueToken } from "../sessions/opaque-tokens.ts";
import { writeAudit } from "../audit/audit.ts";
import { inTransaction } from "../postgres/database.ts";
import type { Executor } from "../postgres/executor.ts";

const ACCOUNT = "development";
const TTL_MS = 24 * 3_600_000;

/**
 * Prints a message when the server is ready: its address, and only on the embedded database on loopback a development
 * token, an action, and a request to paste.
 */
export async function greet({ config, pool, clock }: System, url: string): Promise<string[]> {
  const ready = `Device Risk Signals is ready: ${url}${EVENTS_PATH}`;
  if (!config.embedded || !isLoopback(config.service.host)) return [ready];

  const now = new Date(clock.now());
  const { token, expires_at, action } = await inTransaction(pool, (executor) => issueForDevelopment(executor, clock));

  const body = {
    action_id: action.action_id,
    action_type: action.action_type,
    sdk_version: "0.1.0",
    platform: "android",
    app_version: "1.0",
    observations: {
      session_id: "session-1",
      event_type: "device_intel_collection",
      schema_version: 1,
      collected_at: now.toISOString(),
      probes: {
        fonts: { status: "success", data: { fontsDigest: "a7f3" } },
        geolocation: { status: "skipped", reason: "disabled" },
      },
    },
  };
  return [
    ready,
    `Development token (until ${expires_at}): ${token}`,
    `Registered action: ${action.action_id} (${action.action_type})`,
    "Try it, twice:",
    `curl -i -X POST ${url}${EVENTS_PATH} -H 'Authorization: Bearer ${token}' -H 'Idempotency-Key: try-${now.getTime()}' ` +
      `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`,
  ];
}

async function issueForDevelopment(executor: Executor, clock: Clock): Promise<IssuedToken & { action: ActionRow }> {
  const issued = await issueToken(executor, clock, ACCOUNT, TTL_MS);
  const wanted = { account: ACCOUNT, actionType: "try", ttlMs: TTL_MS, sessionId: "session-1" };
  const action = await registerAction(executor, clock, wanted);
  if (!action) throw new Error("the development action could not be registered");
  const entry = { actor: "server", via: "server" as const, outcome: "done", account: ACCOUNT };
  const { token_id, expires_at } = issued;
  await writeAudit(executor, clock, { ...entry, operation: "token.issue", detail: { token_id, expires_at } });
  const { action_id } = action;
  await writeAudit(executor, clock, { ...entry, operation: "action.register", detail: { action_id } });
  return { ...issued, action };
}
