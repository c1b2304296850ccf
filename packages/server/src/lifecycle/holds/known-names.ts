/**
 * Lists the names in the database. The journal contains only keyed MACs, and a caller compares them with the MACs of
 * these names.
 */
import { findPartitions } from "../../store/events/partition-slices.ts";
import { eventSearch, searchEvents } from "../../store/events/search-events.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { query, sql, type Statement } from "../../store/postgres/statement.ts";

/** Maximum number of names that one query returns. */
const PAGE = 10_000;

export type SubjectKind = "account" | "action_id";

type NamesPage = Statement<readonly [string], { name: string }>;

const namesIn = (table: string, column: SubjectKind): NamesPage =>
  sql(
    `select distinct ${column} as name from ${table} where ${column} > $1 order by ${column} limit ${PAGE}`,
    ["text"],
    { name: "text" },
  );
/** Tables that together name every account that has an event, a token or an action. */
const NAMES_OF_ACCOUNTS = ["account_identity", "session_token", "action"].map((table) => namesIn(table, "account"));
/** Tables that name subjects. After the erasure of an account, only holds and held copies still name it. */
const NAMES: Readonly<Record<SubjectKind, readonly NamesPage[]>> = {
  account: [
    ...NAMES_OF_ACCOUNTS,
    ...["idempotency_key", "held_event", "legal_hold"].map((table) => namesIn(table, "account")),
  ],
  action_id: ["action", "legal_hold"].map((table) => namesIn(table, "action_id")),
};
const SEARCH_ACTIONS = eventSearch({ view: "kept_event", select: "distinct action_id as name", where: "true" }, [], {
  name: "text",
});

/** Yields every name of this kind in the database, some more than once. */
export async function* namesOf(reading: Executor, kind: SubjectKind): AsyncGenerator<string> {
  for (const page of NAMES[kind]) yield* namesOn(reading, page);
  if (kind === "account") return;
  for await (const { name } of searchEvents(reading, SEARCH_ACTIONS, await findPartitions(reading), [])) yield name;
}

async function* namesOn(reading: Executor, page: NamesPage): AsyncGenerator<string> {
  for (let last: string | undefined = ""; last !== undefined;) {
    const { rows }: { rows: { name: string }[] } = await query(reading, page, [last]);
    for (const { name } of rows) yield name;
    last = rows.length === PAGE ? rows.at(-1)?.name : undefined;
  }
}

/** Yields every account that has data to erase, some more than once. */
export async function* accountsToErase(reading: Executor): AsyncGenerator<string> {
  for (const page of NAMES_OF_ACCOUNTS) yield* namesOn(reading, page);
}
