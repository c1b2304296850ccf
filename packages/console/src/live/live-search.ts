import { textsOf } from "../ui/search-texts.ts";

/** The filters of the tail, as the address has them. */
export const LIVE_FILTERS = {
  account: "Account",
  action_type: "Action",
  platform: "Platform",
  sdk_version: "SDK",
  purpose: "Purpose",
} as const;

export type LiveFilter = keyof typeof LIVE_FILTERS;
export type LiveSearch = Partial<Readonly<Record<LiveFilter, string>>>;

export const liveSearchOf = (values: Readonly<Record<string, unknown>>): LiveSearch =>
  textsOf(values, Object.keys(LIVE_FILTERS) as readonly LiveFilter[]);
