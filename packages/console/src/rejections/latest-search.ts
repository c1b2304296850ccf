import { textsOf } from "../ui/search-texts.ts";

/** The filters of the latest rejected requests, as the address has them, and in words. */
export const LATEST_FILTERS = { problem: "problem", sdk_version: "SDK version", account: "account" } as const;

export type LatestFilter = keyof typeof LATEST_FILTERS;
export type LatestSearch = Partial<Readonly<Record<LatestFilter, string>>>;

export const latestSearchOf = (values: Readonly<Record<string, unknown>>): LatestSearch =>
  textsOf(values, Object.keys(LATEST_FILTERS) as readonly LatestFilter[]);
