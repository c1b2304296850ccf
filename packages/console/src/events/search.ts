/** The filters of the list of events, as the address has them: a colleague who opens it sees the same list. */
import type { Input } from "@device-risk-signals/admin-api";
import { filtersOf } from "../ui/search-texts.ts";

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

type Filter = keyof typeof FILTERS;
export type Search = Partial<Readonly<Record<Filter, string>>>;

const FILTER_NAMES = Object.keys(FILTERS) as readonly Filter[];

export const searchOf = (values: Readonly<Record<string, unknown>>): Search => filtersOf(values, FILTER_NAMES);

export const inputOf = (search: Search): Input<"listEvents"> => search as Input<"listEvents">;
