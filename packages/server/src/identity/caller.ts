import type { Role } from "@device-risk-signals/admin-api";
import type { Agent } from "../audit/audit.ts";

/** Who calls an operation: as authentication found, or as the system knows the user of a command. */
export interface Caller extends Agent {
  /** The person, by the name that the credential was issued for; for a command on the database, the actor. */
  readonly person: string;
  /** None for a command on the database: its login decides. */
  readonly roles: readonly Role[];
  /** When the credential expires; RFC 3339. Absent for a command on the database. */
  readonly expiresAt?: string;
  /** The session of a person who signed in; absent where the credential is an admin token. */
  readonly session?: CallerSession;
  /** The admin token, by its id; absent where the credential is a session. */
  readonly tokenId?: string;
}

export interface CallerSession {
  readonly id: string;
  /** When the person gave proof to the identity provider, RFC 3339; `null`: it does not say. */
  readonly authenticatedAt: string | null;
}

/**
 * How the holder of an admin token calls, and the name in the audit. The person who obtained the token has seen it, so
 * that both are one pair of eyes.
 */
export const originOfToken = (
  person: string,
  tokenId: string,
  obtainedBy: string | null,
): Pick<Agent, "actor" | "via"> => ({
  via: "api",
  actor: `${actorStartOf(person)}admin token ${tokenId}${obtainedBy === null ? "" : `, obtained by ${obtainedBy}`})`,
});

/** How a person who signed in calls, and the name in the audit. */
export const originOfSession = (
  person: string,
  kind: "console" | "login",
  sessionId: string,
): Pick<Agent, "actor" | "via"> =>
  kind === "console"
    ? { via: "console", actor: `${actorStartOf(person)}console session ${sessionId})` }
    : { via: "cli", actor: `${actorStartOf(person)}login ${sessionId})` };

/** What audit entries say about the caller. */
export const agentOf = ({ actor, via, roles, breakGlass = false, orderId }: Caller): Agent => ({
  actor,
  via,
  ...(roles.length > 0 && { roles }),
  ...(breakGlass && { breakGlass }),
  ...(orderId !== undefined && { orderId }),
});

/** The start of the actors of one person: the rest names the credential. A person's name holds no parenthesis. */
export const actorStartOf = (person: string): string => `${person} (`;
