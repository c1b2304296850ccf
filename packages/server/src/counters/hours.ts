const HOUR_MS = 3_600_000;

/** The start of the hour of a time. Both are milliseconds since the Unix epoch. */
export const hourOf = (ms: number): number => ms - (ms % HOUR_MS);

export interface WrittenRow {
  /** RFC 3339. */
  readonly hour: string;
}

/** The hours of rows. As a parameter they let a statement use the index, even in a large table. */
export const hoursOf = (rows: readonly WrittenRow[]): string[] => [...new Set(rows.map(({ hour }) => hour))];
