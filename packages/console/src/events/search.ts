/** The filters of the list of events, as the address has them: a colleague who opens it sees the same list. */
import type { Input } from "@device-risk-signals/admin-api";

export const FILTERS = {
  account: "Account",
  action_id: "Action id",
  action_type: "Action type",
  session_id: "Session",
  idempotency_key: "Idempotency key",
  purpose: "Purpose",
  platform: "Platform",
  sdk_version: "SDK version",
  from: "From",
  to: "Until",
} as const;

export type Filter = keyof typeof FILTERS;
export type Search = Partial<Readonly<Record<Filter, string>>>;

export const FILTER_NAMES = Object.keys(FILTERS) as readonly Filter[];

const isTime = (text: string): boolean => /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text));

/** Keeps the filters that the list knows. The server checks their values. */
export function searchOf(values: Readonly<Record<string, unknown>>): Search {
  const entries = FILTER_NAMES.flatMap((name) => {
    // The router reads an account such as 4711 as a number.
    const value = values[name];
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text !== "string" || text === "") return [];
    return (name === "from" || name === "to") && !isTime(text) ? [] : [[name, text]];
  });
  return Object.fromEntries(entries) as Search;
}

export const inputOf = (search: Search): Input<"listEvents"> => search as Input<"listEvents">;

export interface Range {
  readonly name: string;
  /** Absent: since the beginning. */
  readonly from?: string;
  readonly to?: string;
}

const startOfDay = (now: Date, daysAgo: number): string =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).toISOString();

/** Days of the reader's own calendar. */
export const rangesOf = (now: Date): readonly Range[] => [
  { name: "Any time" },
  { name: "Today", from: startOfDay(now, 0) },
  { name: "Yesterday", from: startOfDay(now, 1), to: startOfDay(now, 0) },
  { name: "Last 7 days", from: startOfDay(now, 6) },
];
