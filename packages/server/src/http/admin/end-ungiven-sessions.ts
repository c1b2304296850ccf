import { writeAudit } from "../../audit/audit.ts";
import { endSession, listSignedIn } from "../../access/identity/admin-sessions.ts";
import { revokeTokensOf } from "../../access/identity/admin-tokens.ts";
import { isSessionGiven, removedPeople, type RoleMapping } from "../../access/identity/role-mapping.ts";
import { inTransaction } from "../../store/postgres/database.ts";
import type { Ports } from "../../operations/ports.ts";

export type RoleFilePorts = Ports<"clock" | "keys.audit" | "pool">;

/**
 * Ends the sessions whose person or roles the role file does not give, and revokes the admin tokens of the people whom
 * it no longer lists, and the tokens that they obtained for others. Servers that have read the file refuse them anyway;
 * a call that failed can be repeated.
 */
export async function endUngivenSessions({ pool, clock, keys }: RoleFilePorts, mapping: RoleMapping): Promise<void> {
  const { audit } = await keys();
  const agent = { actor: "role file", via: "api", outcome: "done" } as const;
  await inTransaction(pool, async (transaction) => {
    for (const session of await listSignedIn(transaction, clock)) {
      if (isSessionGiven(mapping, session)) continue;
      const { session_id, person } = session;
      await endSession(transaction, clock, session_id);
      await writeAudit(transaction, audit, { ...agent, operation: "session.revoke", detail: { session_id, person } });
    }
    for (const detail of await revokeTokensOf(transaction, clock, removedPeople(mapping))) {
      await writeAudit(transaction, audit, { ...agent, operation: "admin-token.revoke", detail: { ...detail } });
    }
  });
}
