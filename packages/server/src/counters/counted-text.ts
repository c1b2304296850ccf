/** Texts of clients that are counted unchanged. Their form can contain no words of the client. */

/** Replaces every text that is not counted unchanged. No version is this word. */
export const OTHER_TEXT = "other";

/**
 * Maximum number of members, at all depths, of a request whose event is walked. To walk a larger one takes longer than
 * to store it.
 */
export const MAX_WALKED_MEMBERS = 2_048;

const COMMON_VERSION = /^\d{1,4}(?:\.\d{1,8}){1,2}(?:-(?:alpha|beta|canary|dev|next|rc|snapshot)(?:\.\d{1,8}){0,2})?$/;

/** A version of numbers, with a usual name of a pre-release (`1.4.0-beta.2`), or `other`. */
export function countedVersion(said: string): string {
  return COMMON_VERSION.test(said) ? said : OTHER_TEXT;
}

const MAJOR_VERSION = /^([1-9]\d?)(?:\.|$)/;

/** The major version of an OS, `other` for a text of another form, or an empty text where the event does not say it. */
export function countedMajor(said: unknown): string {
  if (said === undefined) return "";
  return (typeof said === "string" && MAJOR_VERSION.exec(said)?.[1]) || OTHER_TEXT;
}
