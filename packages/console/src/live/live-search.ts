import { BASE_URL } from "../app/base.ts";
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

/** The address with one more filter. A text in JSON's quotation marks remains a text for the router. */
export const hrefWith = (search: LiveSearch, name: LiveFilter, value: string): string =>
  `${BASE_URL}/live?${Object.entries({ ...search, [name]: value })
    .map(([filter, text]) => `${filter}=${encodeURIComponent(JSON.stringify(text))}`)
    .join("&")}`;
