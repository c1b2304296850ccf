import type { Role } from "@device-risk-signals/admin-api";
import type { Agent } from "../audit/audit.ts";

/** Who calls an operation of the admin API, as authentication found. */
export interface Caller extends Agent {
  /** The person, by the name that the credential was issued for. */
  readonly person: string;
  readonly roles: readonly Role[];
  /** When the credential expires; RFC 3339. */
  readonly expiresAt: string;
}

/** The start of the actors of one person: the rest names the credential. A person's name holds no parenthesis. */
export const actorPrefix = (person: string): string => `${person} (`;
