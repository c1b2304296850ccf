import { OperatorError } from "../base/errors/operator-error.ts";
import { isUuid } from "../base/identifiers/uuidv7.ts";
import { parseDateTime } from "@device-risk-signals/contract";
import { InvalidArgumentError } from "commander";
import { duration, durationWithin } from "../base/config/values.ts";
import { accountOf, MAX_ACCOUNT_LENGTH } from "../base/identifiers/account.ts";
import type { Clock } from "../base/ports.ts";

const DAY_MS = 86_400_000;

/** Readers of command-line values. Their exceptions are usage errors: exit code 2. */

export function account(text: string): string {
  const value = accountOf(text);
  if (value === undefined) throw new InvalidArgumentError(`an account has 1 to ${MAX_ACCOUNT_LENGTH} characters.`);
  return value;
}

export function name(what: string, maxLength: number): (text: string) => string {
  return (text) => {
    if (text === "" || [...text].length > maxLength || text.includes("\0")) {
      throw new InvalidArgumentError(`${what} has 1 to ${maxLength} characters.`);
    }
    return text;
  };
}

/** Reads a text that other people will read. Trims the text, and rejects an empty or too long one. */
export function trimmedText(what: string, maxLength: number): (text: string) => string {
  const read = name(what, maxLength);
  return (text) => read(text.trim());
}

/** Reads the id of the ticket that a case has in another system. */
export const ticket = name("a ticket", 128);

/** Reads a duration such as `15m` or `0`. @returns milliseconds. */
const durationOf =
  (kind: typeof duration) =>
  (text: string): number => {
    const result = kind.read(text);
    if ("problem" in result) throw new InvalidArgumentError(`It ${result.problem}.`);
    return result.value;
  };

/** Reads a time to live, such as `15m`: from 1 ms to 3650 days. @returns milliseconds. */
export const ttl = durationOf(durationWithin("1ms", "3650d"));

/** Reads how long to wait, such as `1s` or `0`. @returns milliseconds. */
export const waitTime = durationOf(duration);

/** Reads a maximum number of rows; 0 = no limit. */
export function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number; 0 = no limit.");
  return Number(text);
}

/** Reads the number of an entry of the erasure journal. */
export function entryNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, at least 1.");
  return Number(text);
}

/** Reads a date such as `2027-01-31`, later than today. */
export const futureDate =
  (clock: Clock) =>
  (text: string): string => {
    if (dateOf(text).getTime() <= clock.now()) throw new InvalidArgumentError("It must be after today.");
    return text;
  };

/** Reads a date such as `2027-01-31`, not later than today. @returns the start of that day in UTC, in RFC 3339. */
export const pastDate = (clock: Clock): ((text: string) => string) => {
  const read = pastDay(clock);
  return (text) => dateOf(read(text)).toISOString();
};

/** Reads a date such as `2027-01-31`, not later than today. */
export const pastDay =
  (clock: Clock) =>
  (text: string): string => {
    if (dateOf(text).getTime() > clock.now()) throw new InvalidArgumentError("It must not be after today.");
    return text;
  };

function dateOf(text: string): Date {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
  // `Date` reads a day that does not exist, such as 30 February, as a day of the next month.
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text) {
    throw new InvalidArgumentError("It must be a date of the form 2027-01-31.");
  }
  return at;
}

export function uuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError("It must be an id as the endpoint or a list printed it.");
  return text.toLowerCase();
}

/** Reads a word that must be one of `words`. */
export function wordOf<Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const found = words.find((word) => word === text);
    if (found === undefined) throw new InvalidArgumentError(`It must be one of ${words.join(", ")}.`);
    return found;
  };
}

/** How help shows the texts that `time` reads. */
export const TIMES = "2027-01-31, -2d, -90m, yesterday or RFC 3339; in UTC";

/**
 * Reads a time: a date-time of RFC 3339; a date such as `2027-01-31`, `today` or `yesterday`, which mean the start of
 * the day in UTC; or a duration before now, such as `-2d`.
 * @returns milliseconds since the Unix epoch.
 */
export const time =
  (clock: Clock) =>
  (text: string): number => {
    const now = clock.now();
    if (text === "today" || text === "yesterday") return now - (now % DAY_MS) - (text === "today" ? 0 : DAY_MS);
    const ago = text.startsWith("-") ? duration.read(text.slice(1)) : undefined;
    if (ago) return "value" in ago ? Math.max(0, now - ago.value) : notATime();
    return parseDateTime(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text)?.epochMs ?? notATime();
  };

function notATime(): never {
  throw new InvalidArgumentError("It must be of the form 2027-01-31, 2027-01-31T08:00:00Z, -2d, today or yesterday.");
}

/** Help text with one example in each line. */
export function example(...lines: readonly string[]): string {
  return `\n${lines.length > 1 ? "Examples" : "Example"}:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
}

const MAX_PERSON_LENGTH = 128;

export function personName(text: string): string {
  const value = name("a person's name", MAX_PERSON_LENGTH)(text.trim());
  if (/[()]/.test(value)) throw new InvalidArgumentError("a person's name has no parentheses.");
  return value;
}

export const idOrPerson = (id: string): OperatorError =>
  new OperatorError("wrong-usage", `Name either ${id} or --person.`);
