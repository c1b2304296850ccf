/** Maximum number of rows that one call lists. */
const PAGE = 1_000;

/** What one call lists. */
export interface Page {
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string;
}

/**
 * Yields the pages of a list.
 * @param limit maximum number of rows in total; 0 = no limit.
 */
export async function* pagesOf<Row>(
  limit: number,
  read: (page: Page) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>,
  after?: string,
): AsyncGenerator<readonly Row[]> {
  let left = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  let cursor: string | null | undefined = after;
  do {
    const { rows, next } = await read({ limit: Math.min(PAGE, left), ...(cursor !== undefined && { after: cursor }) });
    if (rows.length > 0) yield rows;
    left -= rows.length;
    cursor = next;
  } while (left > 0 && cursor !== null);
}
