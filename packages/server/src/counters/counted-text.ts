/** What of a client's texts is counted as it is: texts of a form that holds no words of the client. */

/** In place of every text that is not counted as it is. No version is this word. */
export const OTHER = "other";

/** An event of a request with more members, at all depths, is not walked: that takes longer than to store it. */
export const WIDEST = 2_048;

const VERSION = /^\d{1,4}(?:\.\d{1,8}){1,2}(?:-(?:alpha|beta|canary|dev|next|rc|snapshot)(?:\.\d{1,8}){0,2})?$/;

/** A version of numbers, with a usual name of a pre-release (`1.4.0-beta.2`), or `other`. */
export function countedVersion(said: string): string {
  return VERSION.test(said) ? said : OTHER;
}

const MAJOR = /^([1-9]\d?)(?:\.|$)/;

/** The major version of an OS, `other` for a text of another form, or an empty text where the event does not say it. */
export function countedMajor(said: unknown): string {
  if (said === undefined) return "";
  return (typeof said === "string" && MAJOR.exec(said)?.[1]) || OTHER;
}
