/** Texts and times of an address: a colleague who opens it sees the same page. */

/** The members of a search that are texts and not empty. The router reads an account such as 4711 as a number. */
export const textsOf = <Name extends string>(
  values: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Partial<Record<Name, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = values[name];
      return ["string", "number"].includes(typeof value) && value !== "" ? [[name, String(value)]] : [];
    }),
  ) as Partial<Record<Name, string>>;

const isTime = (text: string): boolean => /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text));

/** The filters of a list. `from` and `to` are times; the server checks the other values. */
export const filtersOf = <Name extends string>(
  values: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Partial<Record<Name, string>> =>
  Object.fromEntries(
    Object.entries<string | undefined>(textsOf(values, names)).filter(
      ([name, text = ""]) => !["from", "to"].includes(name) || isTime(text),
    ),
  ) as Partial<Record<Name, string>>;

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
