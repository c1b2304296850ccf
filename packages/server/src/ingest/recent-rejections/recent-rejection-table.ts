/** Reads the latest rejected requests, and deletes those of an account. */
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { composed, query, queryComposed, sql } from "../../store/postgres/statement.ts";

/** How long a rejected request is kept, in milliseconds. */
export const REJECTIONS_KEPT_MS = 86_400_000;

export interface RecentRejectionFilter {
  readonly account?: string | undefined;
  readonly problem?: string | undefined;
  readonly sdkVersion?: string | undefined;
}

export interface RecentRejectionPage {
  readonly limit: number;
  /** The last row of the page before. */
  readonly after?: number | undefined;
}

const recentQuery = composed(
  ({ account, problem, sdkVersion }: RecentRejectionFilter, { limit, after }: RecentRejectionPage) => {
    const values: unknown[] = [`${REJECTIONS_KEPT_MS} milliseconds`];
    const conditions = ["r.at > transaction_time() - $1::interval"];
    const add = (condition: string, value: unknown): void => {
      if (value !== undefined) conditions.push(`${condition} $${values.push(value)}`);
    };
    add("r.account =", account);
    add("r.problem =", problem);
    add("r.sdk_version =", sdkVersion);
    add("r.rejection_id <", after);
    const text = `select rejection_id, ${instant("r.at", "at")}, account, problem, cause, sdk_version, violations, places, more
      from recent_rejection r where ${conditions.join(" and ")}
      order by r.rejection_id desc limit $${values.push(limit)}`;
    return { text, values };
  },
  {
    rejection_id: "int8",
    at: "text",
    account: "text?",
    problem: "text",
    cause: "text?",
    sdk_version: "text?",
    violations: "text[]",
    places: "text[]",
    more: "bool",
  },
  [
    [{}, { limit: 1 }],
    [
      { account: "", problem: "", sdkVersion: "" },
      { limit: 1, after: 1 },
    ],
  ],
  ["interval"],
);

/** Lists rejected requests of the last day, newest first. */
export async function listRecentRejections(
  executor: Executor,
  filter: RecentRejectionFilter,
  page: RecentRejectionPage,
) {
  return (await queryComposed(executor, recentQuery(filter, page))).rows;
}

// guard(no-rows): an erasure leaves no rejected request that names the account
const DELETE_OF_ACCOUNT = sql("delete from recent_rejection where account = $1", ["text"]);

export async function deleteRecentRejections(executor: OwnerTransaction, account: string): Promise<void> {
  await query(executor, DELETE_OF_ACCOUNT, [account]);
}
