/** Calculations whose results are the same in every version of every JavaScript engine. */

/** Maps `A` to `Z` to lower case, and no other character. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32));
}

/** Whether two texts are equal, also if letters of ASCII differ in case: `A` equals `a`, but `Ä` differs from `ä`. */
export function equalAscii(one: string, other: string): boolean {
  return lowerAscii(one) === lowerAscii(other);
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)/;
const MONTHS = Object.freeze([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]);

/**
 * The number of days from 1970-01-01 to a date of the Gregorian calendar.
 *
 * @param text a text that starts with `YYYY-MM-DD`
 * @returns `undefined` if the text starts otherwise, or if there is no such day
 */
export function dayNumber(text: string): number | undefined {
  const match = DATE.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const length = (MONTHS[month - 1] ?? 0) + (isLeap && month === 2 ? 1 : 0);
  if (day < 1 || day > length) return undefined;
  // Counts in years that begin in March, so that the leap day is the last day of a year.
  const marchYear = month > 2 ? year : year - 1;
  const monthFromMarch = (month + 9) % 12;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + Math.floor((monthFromMarch * 153 + 2) / 5) + day - 719_469;
}

const DAY_MS = 86_400_000;

/** The number of days from 1970-01-01 to the UTC day of an instant. */
export function dayOfEpochMs(epochMs: number): number {
  return Math.floor(epochMs / DAY_MS);
}
