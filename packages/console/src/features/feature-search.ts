import { textsOf } from "../ui/search-texts.ts";

/** How the distribution of a feature is grouped. */
export const BYS = {
  all: "All",
  platform: "Platform",
  sdk_version: "SDK version",
  "platform,sdk_version": "Both",
} as const;

export type By = keyof typeof BYS;

export const featureSearchOf = ({ by }: Readonly<Record<string, unknown>>): { by?: By } =>
  typeof by === "string" && Object.hasOwn(BYS, by) && by !== "all" ? { by: by as By } : {};

/** `purpose`: both versions are computed for its stored events. */
export const comparisonSearchOf = (values: Readonly<Record<string, unknown>>): { purpose?: string } =>
  textsOf(values, ["purpose"]);

/** What an export begins with: a purpose, and versions of features that commas separate. */
export const exportSearchOf = (values: Readonly<Record<string, unknown>>): { purpose?: string; features?: string } =>
  textsOf(values, ["purpose", "features"]);
