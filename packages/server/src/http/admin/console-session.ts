import { writeAudit } from "../../audit/audit.ts";
import {
  type AdminSessions,
  endSession,
  type SignedInPerson,
  type StartedSession,
} from "../../access/identity/admin-sessions.ts";
import { actorPrefixOf } from "../../access/identity/caller.ts";
import type { Ports } from "../../operations/ports.ts";
import { inTransaction } from "../../store/postgres/database.ts";

export const SIGN_IN_OPERATION = "session.sign_in";

export interface SessionStart extends Ports<"clock" | "keys.audit" | "pool"> {
  readonly adminSessions: AdminSessions;
  /** The source address. */
  readonly source: string;
}

/**
 * Starts a session with a new id, and ends earlier sessions of the browser.
 * @param earlier their secrets.
 */
export async function startConsoleSession(
  { pool, clock, keys, adminSessions, source }: SessionStart,
  signedIn: SignedInPerson,
  earlier: readonly string[],
): Promise<StartedSession> {
  const { audit } = await keys();
  return inTransaction(pool, async (transaction) => {
    for (const secret of earlier) {
      const found = await adminSessions.find(transaction, clock, "console", secret);
      if (found) await endSession(transaction, clock, found.sessionId);
    }
    const started = await adminSessions.start(transaction, clock, "console", signedIn);
    const { person, roles } = signedIn;
    const actor = `${actorPrefixOf(person)}console session ${started.sessionId})`;
    const entry = { actor, via: "console", roles, source, operation: SIGN_IN_OPERATION, outcome: "done" } as const;
    await writeAudit(transaction, audit, entry);
    return started;
  });
}
