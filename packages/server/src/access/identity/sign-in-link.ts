/** Links by which people sign in on the embedded database and loopback, where no identity provider is configured. */
import { randomUUID } from "node:crypto";
import type pg from "pg";
import type { Role } from "@device-risk-signals/admin-api";
import { type Agent, writeAudit } from "../../audit/audit.ts";
import type { AuditSigner } from "../../audit/audit-signer.ts";
import type { Clock } from "../../base/ports.ts";
import { inTransaction } from "../../store/postgres/database.ts";
import type { AdminSessions } from "./admin-sessions.ts";

/** The path of the page that reads the code from its fragment. */
const PAGE = "/sign-in";

interface LinkPorts {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly audit: AuditSigner;
  readonly adminSessions: AdminSessions;
}

export interface SignInLink {
  /** Its fragment is a secret: the first browser that opens it, within ten minutes, becomes the person's. */
  readonly url: string;
  readonly expiresAt: string;
}

/** @param adminUrl the URL of the admin listener. @param agent who makes the link. */
export async function issueSignInLink(
  { pool, clock, audit, adminSessions }: LinkPorts,
  adminUrl: string,
  { person, roles }: { readonly person: string; readonly roles: readonly Role[] },
  agent: Agent,
): Promise<SignInLink> {
  return inTransaction(pool, async (transaction) => {
    const wanted = { person, roles, identity: `link ${randomUUID()}`, grants: [], authenticatedAt: null };
    const { secret, expiresAt } = await adminSessions.start(transaction, clock, "link", wanted);
    const detail = { person, roles, expires_at: expiresAt };
    await writeAudit(transaction, audit, { ...agent, operation: "session.link", outcome: "done", detail });
    return { url: `${adminUrl}${PAGE}#${secret}`, expiresAt };
  });
}
