import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BASE_PATH, ROLE_NAMES } from "@device-risk-signals/admin-api";
import { isLoopback } from "../base/config/rules.ts";
import { type ActionRow, registerAction } from "../ingest/actions/action-table.ts";
import { EVENTS_PATH } from "../ingest/request.ts";
import type { System } from "../runtime/system.ts";
import { type IssuedToken, issueToken } from "../ingest/sessions/opaque-tokens.ts";
import type { AuditSigner } from "../audit/audit-signer.ts";
import { writeAudit } from "../audit/audit.ts";
import { issueSignInLink } from "../access/identity/sign-in-link.ts";
import { issueAdminToken, revokeInitialTokens } from "../access/identity/admin-tokens.ts";
import { reachOf } from "../serve/reach.ts";
import { inOwnerTransaction, inTransaction } from "../store/postgres/database.ts";
import type { Executor } from "../store/postgres/executor.ts";

const ACCOUNT = "development";
const TTL_MS = 24 * 3_600_000;
/** The file in the data directory to which the initial admin token is written. */
const TOKEN_FILE = "admin-token";

/** What the tokens in the message are issued with. */
type Issuer = Pick<System, "administration" | "adminSessions" | "audit" | "clock" | "config" | "pool">;

export interface Urls {
  readonly url?: string;
  readonly adminUrl: string;
}

/**
 * Composes the message of a server that is ready, and issues the tokens and the action in it. The message has the
 * address of the server. If the endpoint uses the embedded database and listens on loopback, it also has a development
 * token, an action and a request to paste. If the admin API listens on loopback, too, it also has an admin token.
 * @param isTerminal whether a person reads the message. If not, the message may go to a log, which must contain no
 * admin token, so the token is written to a file.
 */
export async function greet(system: Issuer, { url, adminUrl }: Urls, isTerminal: boolean): Promise<string[]> {
  const { config, pool, audit, clock } = system;
  const ready = `Device Risk Signals is ready: ${url === undefined ? adminUrl : `${url}${EVENTS_PATH}`}`;
  if (config.embedded) await revokeInitialToken(system);
  if (!config.embedded || !isLoopback(config.service.host)) return [ready];
  const admin = isLoopback(config.service.admin.host) ? await greetAdmin(system, adminUrl, isTerminal) : [];

  const now = new Date(clock.now());
  const { token, expires_at, action } = await inTransaction(pool, (executor) => issueForDevelopment(executor, audit));

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
    ...admin,
    "Try it, twice:",
    `curl -i -X POST ${url}${EVENTS_PATH} -H 'Authorization: Bearer ${token}' -H 'Idempotency-Key: try-${now.getTime()}' ` +
      `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`,
  ];
}

const tokenFile = ({ config }: Issuer): string => join(config.database.directory, TOKEN_FILE);

/** Revokes the admin token that an earlier start issued, and deletes its file, even if this start issues none. */
async function revokeInitialToken(system: Issuer): Promise<void> {
  const { pool, audit, clock } = system;
  await inTransaction(pool, async (transaction) => {
    for (const token_id of await revokeInitialTokens(transaction, clock)) {
      const entry = { actor: "server", via: "server", operation: "admin-token.revoke", outcome: "done" } as const;
      await writeAudit(transaction, audit, { ...entry, detail: { token_id } });
    }
  });
  await rm(tokenFile(system), { force: true });
}

/** Issues an admin token that has all roles and is valid for a day. @returns lines of the message. */
async function greetAdmin(system: Issuer, adminUrl: string, isTerminal: boolean): Promise<string[]> {
  const { administration, audit, clock } = system;
  const issued = await inOwnerTransaction(administration, async (owner) => {
    const token = await issueAdminToken(owner, clock, {
      person: ACCOUNT,
      roles: ROLE_NAMES,
      ttlMs: TTL_MS,
      isInitial: true,
    });
    const { token_id, expires_at, roles } = token;
    const entry = { actor: "server", via: "server", operation: "admin-token.issue", outcome: "done" } as const;
    await writeAudit(owner, audit, { ...entry, detail: { token_id, person: ACCOUNT, roles, expires_at } });
    return token;
  });
  const file = tokenFile(system);
  if (!isTerminal) await writeFile(file, `${issued.token}\n`, { mode: 0o600, flag: "wx" });
  const where = isTerminal ? issued.token : `in ${file}`;
  return [
    await greetConsole(system, adminUrl, isTerminal),
    `Admin API: ${adminUrl}${BASE_PATH}`,
    `Admin token (all roles, until ${issued.expires_at}): ${where}`,
  ];
}

/** A link that signs the reader in. A log gets none. */
async function greetConsole(system: Issuer, adminUrl: string, isTerminal: boolean): Promise<string> {
  if (reachOf(system.config) !== "loopback") return `Console: ${adminUrl}`;
  if (!isTerminal) return `Console: ${adminUrl} (drs console link prints a link that signs you in)`;
  const everyRole = { person: ACCOUNT, roles: ROLE_NAMES };
  const { url, expiresAt } = await issueSignInLink(system, adminUrl, everyRole, { actor: "server", via: "server" });
  return `Console: ${url} (signs you in once, until ${expiresAt}; another: drs console link)`;
}

async function issueForDevelopment(
  executor: Executor,
  audit: AuditSigner,
): Promise<IssuedToken & { action: ActionRow }> {
  const issued = await issueToken(executor, audit.clock, ACCOUNT, TTL_MS);
  const wanted = { account: ACCOUNT, actionType: "try", ttlMs: TTL_MS, sessionId: "session-1" };
  const action = await registerAction(executor, audit.clock, wanted);
  if (!action) throw new Error("the development action could not be registered");
  const entry = { actor: "server", via: "server" as const, outcome: "done", account: ACCOUNT };
  const { token_id, expires_at } = issued;
  await writeAudit(executor, audit, { ...entry, operation: "token.issue", detail: { token_id, expires_at } });
  const { action_id } = action;
  await writeAudit(executor, audit, { ...entry, operation: "action.register", detail: { action_id } });
  return { ...issued, action };
}
