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
  Object.fromEntries(
    Object.keys(LIVE_FILTERS).flatMap((name) => {
      const value = values[name];
      const text = typeof value === "number" ? String(value) : value;
      return typeof text === "string" && text !== "" ? [[name, text]] : [];
    }),
  );
