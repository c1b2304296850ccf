import type { Role } from "@device-risk-signals/admin-api";
import type { Agent } from "../../audit/audit.ts";

/** The caller of an operation: a person who authenticated at the admin API, or the user who ran a command. */
export interface Caller extends Agent {
  /**
   * The name of the person to whom the credential was issued. For a command on the database, `person` equals `actor`.
   */
  readonly person: string;
  /** The roles. Empty for a command on the database, because its database login decides what it may do. */
  readonly roles: readonly Role[];
  /** The time at which the credential expires, in RFC 3339. Absent for a command on the database. */
  readonly expiresAt?: string;
  /** The session of a person who signed in; absent for an admin token and for a command on the database. */
  readonly session?: CallerSession;
  /** The id of the admin token; absent for a session and for a command on the database. */
  readonly tokenId?: string;
  /**
   * Whether a command on the database also reads events that are excluded from analysis. Through the admin API, the role
   * `privacy` sees their attributes, and no caller opens them.
   */
  readonly includeRestricted?: boolean;
  /** The `Idempotency-Key` of the call, if it has one: a repeated call has the same. */
  readonly callId?: string;
}

export interface CallerSession {
  readonly id: string;
  /**
   * The time at which the person authenticated at the identity provider, in RFC 3339; `null` if the provider does not
   * report it.
   */
  readonly authenticatedAt: string | null;
}

/**
 * Returns the `actor` and `via` of audit entries for the holder of an admin token. The actor also names the person who
 * obtained the token for the holder, because that person has seen the token and could use it.
 */
export const originOfToken = (
  person: string,
  tokenId: string,
  obtainedBy: string | null,
): Pick<Agent, "actor" | "via"> => ({
  via: "api",
  actor: `${actorPrefixOf(person)}admin token ${tokenId}${obtainedBy === null ? "" : `, obtained by ${obtainedBy}`})`,
});

/** Returns the `actor` and `via` of audit entries for a person who signed in. */
export const originOfSession = (
  person: string,
  kind: "console" | "login",
  sessionId: string,
): Pick<Agent, "actor" | "via"> =>
  kind === "console"
    ? { via: "console", actor: `${actorPrefixOf(person)}console session ${sessionId})` }
    : { via: "cli", actor: `${actorPrefixOf(person)}login ${sessionId})` };

/** The part of the caller that audit entries contain. */
export const agentOf = ({ actor, via, roles, breakGlass = false, source, reason }: Caller): Agent => ({
  actor,
  via,
  ...(roles.length > 0 && { roles }),
  ...(breakGlass && { breakGlass }),
  ...(source !== undefined && { source }),
  ...(reason !== undefined && { reason }),
});

/**
 * The text with which `actor` starts in each audit entry of a person; the credential follows it. No other person's
 * entries start with it, because a name contains no parenthesis.
 */
export const actorPrefixOf = (person: string): string => `${person} (`;
