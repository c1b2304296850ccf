/** The words of the privacy screens: those of a privacy officer, each number with its unit. */
import type { Answer } from "@device-risk-signals/admin-api";

export type DataRequest = Answer<"listRequests">["requests"][number];

export type Hold = Answer<"listHolds">["holds"][number];
export type Restriction = Answer<"listRestrictions">["restrictions"][number];

export const KINDS = {
  access: "Access",
  erasure: "Erasure",
  portability: "Portability",
  restriction: "Restriction",
  objection: "Objection",
  rectification: "Rectification",
} as const satisfies Readonly<Record<DataRequest["kind"], string>>;

/** Articles of the GDPR. */
export const ARTICLES = {
  access: 15,
  rectification: 16,
  erasure: 17,
  restriction: 18,
  portability: 20,
  objection: 21,
} as const satisfies Readonly<Record<DataRequest["kind"], number>>;

export const OUTCOMES = {
  done: "done",
  partly: "done in part",
  refused: "refused",
} as const satisfies Readonly<Record<NonNullable<DataRequest["outcome"]>, string>>;

/** Such as "1 event" and "1,200 events". */
export const countOf = (count: number, one: string, several = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : several}`;

/** What an account's hold, an action's or an event's is about. */
export const subjectOf = ({ account, action_id, event_id }: Hold): string => account ?? action_id ?? event_id ?? "";

/** How long the server wants a reason to be; a form says it before. */
export const LONG_ENOUGH = "8 characters or more";

const DAY_MS = 86_400_000;

/** Such as "due in 12 days", "due today" and "3 days overdue": days of the calendar, by UTC, as the dates next to it. */
export function dueWords(at: string, now = Date.now()): string {
  const days = dayOf(Date.parse(at)) - dayOf(now);
  if (Date.parse(at) < now) return days === 0 ? "overdue since today" : `${countOf(-days, "day")} overdue`;
  return days === 0 ? "due today" : `due in ${countOf(days, "day")}`;
}

/** The number of a day, by UTC. */
const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

const UNITS = { Y: "year", M: "month", W: "week", D: "day" } as const;
const PERIOD = /^P(\d+)([YMWD])$/;

export interface Period {
  readonly count: number;
  readonly unit: keyof typeof UNITS;
}

/** @returns `undefined` for a duration of ISO 8601 that has several units. */
export function periodOf(text: string): Period | undefined {
  const [, count, unit] = PERIOD.exec(text) ?? [];
  return count === undefined ? undefined : { count: Number(count), unit: unit as Period["unit"] };
}

/** Such as "90 days"; a duration that has several units is shown as it is. */
export function periodWords(text: string): string {
  const period = periodOf(text);
  return period ? countOf(period.count, UNITS[period.unit]) : text;
}

/** In UTC. */
export const tomorrow = (): string => dateOf(new Date(Date.now() + DAY_MS).toISOString());

/** The date of a time, in UTC. */
export const dateOf = (at: string): string => at.slice(0, 10);

export function stateOf({ outcome, completable, still_held, identity, extension_ground }: DataRequest): string {
  if (completable) return "the hold has ended: it can be closed as done";
  if (outcome === "partly" && still_held > 0) return "done in part, a hold keeps the rest";
  if (outcome !== null) return OUTCOMES[outcome];
  if (identity === null) return "identity not checked yet";
  return extension_ground === null ? "identity checked" : "extended";
}
