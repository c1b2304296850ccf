/** The name of a person as an identity provider says it: shown next to the person, never compared with anything. */
import { type Claims, claimAt } from "./role-mapping.ts";

/** Maximum number of characters (code points) that are stored. */
const MAX_NAME = 128;

/**
 * The text of a claim in the form that the database can store, without blanks at its ends, and cut. It is escaped
 * where it is shown: it may contain control characters and characters that change the direction.
 * @param claim its name or path; `undefined`: no names are wanted.
 * @returns `null` if the claim has no text.
 */
export function displayName(claims: Claims, claim: string | undefined): string | null {
  const value = claim === undefined ? undefined : claimAt(claims, claim);
  if (typeof value !== "string") return null;
  // PostgreSQL stores neither a NUL nor half of a surrogate pair.
  const characters = [...value.trim().toWellFormed().replaceAll("\0", "\uFFFD")];
  // guard: a name of any length is stored in bounds
  if (characters.length > MAX_NAME) return `${characters.slice(0, MAX_NAME - 1).join("")}…`;
  return characters.join("") || null;
}
