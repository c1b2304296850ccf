/**
 * Short ids: commands of a group take the last eight or more characters of an id that the list of the group has. The
 * ids of events have none, because no index finds an event by the end of its id.
 */
import { type Answer, type Input, type RouteId, routeOf } from "@device-risk-signals/admin-api";
import { InvalidArgumentError } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { isUuid } from "../base/identifiers/uuidv7.ts";
import type { Call } from "./call.ts";
import { type Page, pagesOf } from "./pages.ts";

/** The list that has the ids of a group. */
export type IdList = { readonly [Id in RouteId]: IdListOf<Id> }[RouteId];

interface IdListOf<Id extends RouteId> {
  readonly list: Id;
  /** The member of the list's answer that has the rows. */
  readonly rows: keyof Answer<Id> & string;
  /** The member of a row that is the id. */
  readonly id: string;
}

const END_OF_ID = /^[0-9a-f-]{8,35}$/;

/** Reads an id or its end. */
export function idOrEnd(text: string): string {
  const id = text.toLowerCase();
  if (isUuid(id) || END_OF_ID.test(id)) return id;
  throw new InvalidArgumentError("It must be an id as a list printed it, or at least its last eight characters.");
}

/**
 * The id that ends with the text.
 * @throws not-found; wrong-usage that names the candidates
 */
export async function fullIdOf(call: Call, { list, rows, id }: IdList, text: string): Promise<string> {
  if (isUuid(text)) return text;
  const found: string[] = [];
  const hasPages = routeOf(list).query?.properties?.["limit"] !== undefined;
  const read = async (page: Page) => {
    const answer = await call(list, (hasPages ? page : {}) as Input<RouteId>);
    const { [rows]: all, next = null } = answer as Answer<RouteId> & Readonly<Record<string, unknown>>;
    return { rows: all as readonly Readonly<Record<string, string>>[], next: next as string | null };
  };
  for await (const page of pagesOf(0, read)) {
    for (const row of page) if (row[id]?.endsWith(text)) found.push(row[id]);
  }
  const [only] = found;
  if (only === undefined) throw new OperatorError("not-found", `No ${id} ends with "${text}".`);
  // guard(false): a command changes nothing if it is not clear what
  if (found.length > 1) {
    throw new OperatorError(
      "wrong-usage",
      `Several ids end with "${text}": ${found.join(", ")}. Give more of its end.`,
    );
  }
  return only;
}
