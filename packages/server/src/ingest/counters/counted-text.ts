/**
 * Selects the texts of clients that are counted unchanged. A text of this form can't contain a word that a client
 * chose.
 */

/** This word is counted in place of every other text. No version has the form of this word. */
export const OTHER_TEXT = "other";

/**
 * Maximum number of members, at all depths, of a request whose event is walked for counts. Walking a larger event would
 * take longer than storing it.
 */
export const MAX_WALKED_MEMBERS = 2_048;

const COMMON_VERSION = /^\d{1,4}(?:\.\d{1,8}){1,2}(?:-(?:alpha|beta|canary|dev|next|rc|snapshot)(?:\.\d{1,8}){0,2})?$/;

/**
 * Returns a version of numbers, which may have a usual name of a pre-release (`1.4.0-beta.2`), unchanged. Any other
 * text gives `other`.
 */
export function countedVersion(said: string): string {
  return COMMON_VERSION.test(said) ? said : OTHER_TEXT;
}

const MAJOR_VERSION = /^([1-9]\d?)(?:\.|$)/;

/**
 * Returns the major version of an OS, `other` for a value of another form, or an empty text if the event has no
 * version.
 */
export function countedMajor(said: unknown): string {
  if (said === undefined) return "";
  return (typeof said === "string" && MAJOR_VERSION.exec(said)?.[1]) || OTHER_TEXT;
}
