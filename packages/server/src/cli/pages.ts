import type { Context } from "./context.ts";
import { rowPrinter, type Table, type TableOptions } from "./table.ts";

/** Maximum number of rows that one call lists. */
export const PAGE_SIZE = 1_000;

/** The rows that one call asks for. */
export interface Page {
  readonly limit: number;
  /** `next` of the previous page. */
  readonly after?: string;
}

export type ReadPage<Row> = (page: Page) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>;

/**
 * Yields the pages of a list.
 * @param limit maximum number of rows in total; 0 = no limit.
 */
export async function* pagesOf<Row>(
  limit: number,
  read: ReadPage<Row>,
  after?: string,
): AsyncGenerator<readonly Row[]> {
  let rowsLeft = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  let cursor: string | null | undefined = after;
  do {
    const { rows, next } = await read({
      limit: Math.min(PAGE_SIZE, rowsLeft),
      ...(cursor !== undefined && { after: cursor }),
    });
    if (rows.length > 0) yield rows;
    rowsLeft -= rows.length;
    cursor = next;
  } while (rowsLeft > 0 && cursor !== null);
}

export interface PageOptions extends TableOptions {
  /** Maximum number of rows; 0 = no limit. */
  readonly limit: number;
}

/**
 * Prints a list page by page. JSON and CSV are printed as they are read. A table is printed after all rows were read,
 * because the widths of its columns depend on them.
 */
export async function printPages<Row extends object>(
  context: Context,
  read: ReadPage<Row>,
  options: PageOptions,
  table: Table,
): Promise<void> {
  const { take, end } = rowPrinter(context, table, options);
  for await (const page of pagesOf(options.limit, read)) {
    take(page);
    if (context.stdout.destroyed) break;
  }
  end();
}
