import type { Answer } from "@device-risk-signals/admin-api";
import { filtersOf } from "../ui/search-texts.ts";

/** The filters of the list of audit entries, as the address has them. */
export const FILTERS = {
  person: "Person",
  operation: "Operation",
  account: "Account",
  event_id: "Event id",
  from: "From",
  to: "Until",
} as const;

type Filter = keyof typeof FILTERS;
const FILTER_NAMES = Object.keys(FILTERS) as readonly Filter[];

export type EntriesSearch = Partial<Readonly<Record<Filter, string>>> & {
  /** The entry whose details are shown. */
  readonly entry?: string;
};

export type Entry = Answer<"listAudit">["entries"][number];

export const entriesSearchOf = (values: Readonly<Record<string, unknown>>): EntriesSearch =>
  filtersOf(values, [...FILTER_NAMES, "entry"]);

/** The filters that find an entry again, however many entries follow it. */
export const searchOfEntry = ({ entry_id, at }: Pick<Entry, "entry_id" | "at">): EntriesSearch => ({
  from: at,
  to: new Date(Date.parse(at) + 1).toISOString(),
  entry: entry_id,
});
