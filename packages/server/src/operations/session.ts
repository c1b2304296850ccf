import { VERSION } from "../base/version.ts";
import { writeAudit } from "../audit/audit.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { endSession, endSessionsOf, listSessions as querySessions } from "../access/identity/admin-sessions.ts";
import { nameOfSession } from "../access/identity/signed-in-identities.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { isDemo } from "../store/postgres/demo.ts";
import { readInstallationId } from "../lifecycle/recovery/installation.ts";
import { nextOf, pageOf } from "./list-page.ts";
import type { Operation } from "./operation.ts";
import type { Ports } from "./ports.ts";

export const readSession: Operation<"readSession", "pool"> = async ({ ports, caller }) => {
  const installation = await readInstallationId(ports.pool);
  const { person, roles, via, expiresAt, session } = caller;
  const authenticatedAt = session?.authenticatedAt ?? null;
  const expires_at = expiresAt ?? null;
  const name = session ? await nameOfSession(ports.pool, session.id) : null;
  return {
    answer: {
      installation,
      version: VERSION,
      is_demo: await isDemo(ports.pool),
      person,
      name,
      roles: [...roles],
      via,
      expires_at,
      authenticated_at: authenticatedAt,
    },
  };
};

type EndPorts = "clock" | "keys.audit" | "pool";

export const signOut: Operation<"signOut", EndPorts> = async ({ ports, caller }) => {
  const { session } = caller;
  if (!session) throw new OperatorError("not-found", "The caller uses an admin token, which has no session.");
  await end(ports, caller, session.id, "session.sign_out");
  return { answer: { session_id: session.id } };
};

export const listSessions: Operation<"listSessions", "clock" | "pool"> = async ({ ports, input }) => {
  const page = pageOf(input);
  const sessions = await querySessions(ports.pool, ports.clock, page);
  const next = nextOf(sessions, page, ({ started_at, session_id }) => [started_at, session_id]);
  return { answer: { sessions, next }, audit: { detail: { count: sessions.length } } };
};

export const revokeSession: Operation<"revokeSession", EndPorts> = async ({ ports, caller, input }) => {
  await end(ports, caller, input.session_id, "session.revoke");
  return { answer: { session_id: input.session_id } };
};

export const revokeSessionsOf: Operation<"revokeSessionsOf", EndPorts> = async ({ ports, caller, input }) => {
  const { person } = input;
  const { pool, clock, keys } = ports;
  const { audit } = await keys();
  const session_ids = await inTransaction(pool, async (transaction) => {
    const ended = await endSessionsOf(transaction, clock, person);
    const entry = { ...agentOf(caller), operation: "session.revoke", outcome: "done" };
    await writeAudit(transaction, audit, { ...entry, detail: { person, session_ids: ended } });
    return ended;
  });
  return { answer: { session_ids: [...session_ids] } };
};

/** @throws not-found */
async function end(ports: Ports<EndPorts>, caller: Caller, sessionId: string, operation: string): Promise<void> {
  const { pool, clock, keys } = ports;
  const { audit } = await keys();
  await inTransaction(pool, async (transaction) => {
    const person = await endSession(transaction, clock, sessionId);
    if (person === undefined) throw new OperatorError("not-found", `There is no active session ${sessionId}.`);
    const detail = { session_id: sessionId, person };
    await writeAudit(transaction, audit, { ...agentOf(caller), operation, outcome: "done", detail });
  });
}
