/** Pages of lists. A cursor is the position of the last row of a page, as text: a time and ids. */
import { isUuid } from "../base/identifiers/uuidv7.ts";
import type { KeysetPage } from "../store/postgres/keyset.ts";
import { invalid } from "./input.ts";
import type { AdminError } from "./problem.ts";

const LIMIT = 50;

interface PageInput {
  readonly limit?: number;
  readonly after?: string;
}

/** Whether a text has the form of an id in a cursor. */
type IsId = (id: string) => boolean;

export const isText: IsId = (id) => !id.includes("\0");

/** @throws AdminError request-invalid */
export function pageOf({ limit = LIMIT, after }: PageInput, ids: readonly IsId[] = [isUuid]): KeysetPage {
  if (after === undefined) return { limit };
  const [at, ...found] = valuesOfCursor(after);
  const isPosition =
    typeof at === "string" &&
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(at) &&
    !Number.isNaN(Date.parse(at)) &&
    found.length === ids.length &&
    found.every((id, index) => typeof id === "string" && ids[index]?.(id));
  if (!isPosition) throw notNext();
  return { limit, after: { at, ids: found as string[] } };
}

/** The cursor of the next page; `null` if this page has fewer rows than the limit, and is therefore the last one. */
export function nextOf<Row>(
  rows: readonly Row[],
  { limit }: KeysetPage,
  position: (row: Row) => readonly [at: string, ...ids: string[]],
): string | null {
  const last = rows.at(-1);
  if (!last || rows.length < limit) return null;
  return cursorOf(position(last));
}

/** The cursor of the page after a row. */
export const cursorOf = (position: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(position)).toString("base64url");

/** The position of a cursor, which a caller may have changed; empty if the text is no cursor. */
export function valuesOfCursor(cursor: string): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(values) ? values : [];
  } catch {
    return [];
  }
}

export const notNext = (): AdminError => invalid("querystring/after", "is not the `next` of a page");
