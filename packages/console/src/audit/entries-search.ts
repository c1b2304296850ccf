import type { Answer } from "@device-risk-signals/admin-api";

/** The filters of the list of audit entries, as the address has them. */
export const FILTERS = {
  person: "Person",
  operation: "Operation",
  account: "Account",
  event_id: "Event id",
  from: "From",
  to: "Until",
} as const;

export type Filter = keyof typeof FILTERS;
export const FILTER_NAMES = Object.keys(FILTERS) as readonly Filter[];

export type EntriesSearch = Partial<Readonly<Record<Filter, string>>> & {
  /** The entry whose details are shown. */
  readonly entry?: string;
};

export type Entry = Answer<"listAudit">["entries"][number];

const isTime = (text: string): boolean => /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text));

/** Keeps the filters that the list knows. The server checks their values. */
export function entriesSearchOf(values: Readonly<Record<string, unknown>>): EntriesSearch {
  const entries = [...FILTER_NAMES, "entry" as const].flatMap((name) => {
    // The router reads an account such as 4711 as a number.
    const value = values[name];
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text !== "string" || text === "") return [];
    return (name === "from" || name === "to") && !isTime(text) ? [] : [[name, text]];
  });
  return Object.fromEntries(entries) as EntriesSearch;
}

/** The filters that find an entry again, however many entries follow it. */
export const searchOfEntry = ({ entry_id, at }: Pick<Entry, "entry_id" | "at">): EntriesSearch => ({
  from: at,
  to: new Date(Date.parse(at) + 1).toISOString(),
  entry: entry_id,
});
