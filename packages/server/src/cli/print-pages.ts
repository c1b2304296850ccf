import type { PageOf } from "../counters/list-counts.ts";
import { type Context, printJson, printRows } from "./context.ts";

/** Rows that one query of a long listing fetches. */
const PAGE = 1_000;

export interface PageOptions {
  /** 0: no limit. */
  readonly limit: number;
  readonly json?: boolean;
}

/** Reads a listing page by page. JSON is printed as it is read; a table needs all rows for its widths. */
export async function printPages<Row extends object>(
  context: Context,
  read: (page: PageOf<Row>) => Promise<readonly Row[]>,
  { limit, json = false }: PageOptions,
  empty: string,
): Promise<void> {
  const collected: Row[] = [];
  let left = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  let after: Row | undefined;
  do {
    const wanted = Math.min(PAGE, left);
    const page = await read({ limit: wanted, ...(after && { after }) });
    if (json) for (const row of page) printJson(context, row);
    else collected.push(...page);
    left -= page.length;
    after = page.length < wanted ? undefined : page.at(-1);
  } while (after && left > 0 && !context.stdout.destroyed);
  if (!json) printRows(context, collected, false, empty);
}
