/** How often events had a path, by day: the rows of a path differ by type, platform and SDK version. */
import type { Answer } from "@device-risk-signals/admin-api";

export type Seen = Answer<"listDrift">["drift"][number];
type Counted = Pick<Seen, "daily" | "last_seen">;

export interface DayCount {
  readonly day: string;
  readonly events: number;
}

const DAY_MS = 86_400_000;
const dayOf = (at: string): number => Math.floor(Date.parse(at) / DAY_MS);

/** The days of the rows together, in UTC, up to the last day on which one was seen. */
export function byDay(rows: readonly Counted[]): readonly DayCount[] {
  const end = Math.max(...rows.map((row) => dayOf(row.last_seen)));
  const days = Math.max(0, ...rows.map(({ daily }) => daily.length));
  return Array.from({ length: days }, (_, index) => {
    const day = end - days + 1 + index;
    const events = rows.reduce(
      (sum, { daily, last_seen }) => sum + (daily[daily.length - 1 - (dayOf(last_seen) - day)] ?? 0),
      0,
    );
    return { day: new Date(day * DAY_MS).toISOString().slice(0, 10), events };
  });
}

/** Events of each SDK version. */
export const byVersion = (rows: readonly Seen[]): readonly (readonly [version: string, rows: readonly Seen[]])[] =>
  [...Map.groupBy(rows, ({ sdk_version }) => sdk_version)].toSorted(([one], [other]) =>
    other.localeCompare(one, "en", { numeric: true }),
  );

export const eventsOf = (rows: readonly Pick<Seen, "occurrences">[]): number =>
  rows.reduce((sum, { occurrences }) => sum + occurrences, 0);
