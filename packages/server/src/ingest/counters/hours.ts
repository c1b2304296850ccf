const HOUR_MS = 3_600_000;

/** Returns the start of the hour that contains a time. Both times are milliseconds since the Unix epoch. */
export const hourOf = (ms: number): number => ms - (ms % HOUR_MS);

export interface WrittenRow {
  /** RFC 3339. */
  readonly hour: string;
}

/**
 * Returns the distinct hours of rows. A statement that has them as a parameter uses the index, even on a large table.
 */
export const hoursOf = (rows: readonly WrittenRow[]): string[] => [...new Set(rows.map(({ hour }) => hour))];
