/** Pages of a list that is ordered by a time, newest first, and then by ids. */

/** Where a page begins: after the row with this time and these ids. */
export interface Position {
  /** RFC 3339, to the millisecond, as the rows show it. */
  readonly at: string;
  readonly ids: readonly string[];
}

export interface KeysetPage {
  /** Maximum number of rows. */
  readonly limit: number;
  readonly after?: Position;
}

export const FIRST_PAGE: KeysetPage = { limit: 1_000 };

/**
 * Composes the condition for rows after a position.
 * @param at the placeholder of its time. @param ids placeholders of its ids, with their types, by column.
 */
export const isAfter = (time: string, at: string, ids: Readonly<Record<string, string>>): string =>
  `(${at}::timestamptz is null or ${time} < ${at}
      or (${time} = ${at} and (${Object.keys(ids).join(", ")}) > (${Object.values(ids).join(", ")})))`;

/** The values for the placeholders in the condition that `isAfter` composes. @param count the number of ids. */
export const positionValues = ({ after }: KeysetPage, count: number): readonly (string | null)[] =>
  after ? [after.at, ...after.ids] : Array.from({ length: count + 1 }, () => null);
