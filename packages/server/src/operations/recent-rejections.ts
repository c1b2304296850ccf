/** The latest rejected requests, which a page reads again every few seconds. */
import type { Answer, Scope } from "@device-risk-signals/admin-api";
import { PROBLEMS } from "@device-risk-signals/contract";
import { agentOf } from "../access/identity/caller.ts";
import { writeAudit } from "../audit/audit.ts";
import { listRecentRejections as queryRecent } from "../ingest/recent-rejections/recent-rejection-table.ts";
import { findRestricted } from "../lifecycle/restrictions/restriction-table.ts";
import type { Pseudonymizer } from "../store/crypto/pseudonymizer.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { auditOnce } from "./audit-once.ts";
import type { Operation } from "./operation.ts";
import { type ReplayedPorts, requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { refusedNames } from "./pseudonyms.ts";

const LIMIT = 50;
const CURSOR = /^\d{1,15}$/;

type RecentPorts = "keys.audit" | "keys.pseudonymizer" | "monotonic" | "pool" | ReplayedPorts;
type Row = Awaited<ReturnType<typeof queryRecent>>[number];

export const listRecentRejections: Operation<"listRecentRejections", RecentPorts> = async (call) => {
  const { ports, caller, scope, input } = call;
  await requireReplayedJournal(ports);
  const { limit = LIMIT, after, ...filter } = input;
  const { account, problem, sdk_version: sdkVersion } = filter;
  // guard(false): a caller who sees pseudonyms can't search by names
  if (scope === "pseudonyms" && account !== undefined) throw refusedNames();
  const rows = await queryRecent(ports.pool, { account, problem, sdkVersion }, { limit, after: cursorOf(after) });
  const { audit, pseudonymizer } = await ports.keys();
  const rejections = await shown(ports.pool, pseudonymizer, rows, scope);
  // guard(false): a restricted account has no further page, as an account without rejections
  const isHidden = account !== undefined && rejections.length === 0;
  const isFull = rows.length === limit && !isHidden;
  const answer = { rejections, next: isFull ? String(rows.at(-1)?.rejection_id) : null };
  // guard(drop): a list of accounts is audited before it is answered
  await auditOnce(ports.pool, JSON.stringify([caller.actor, "rejection.recent", filter]), ports.monotonic, () =>
    writeAudit(ports.pool, audit, {
      ...agentOf(caller),
      operation: "rejection.recent",
      outcome: "done",
      ...(account !== undefined && { account }),
      detail: { filter },
    }),
  );
  return { answer };
};

function cursorOf(after: string | undefined): number | undefined {
  if (after === undefined || CURSOR.test(after)) return after === undefined ? undefined : Number(after);
  throw new AdminError("request-invalid", {
    errors: [{ where: "querystring/after", detail: "is not the `next` of a page" }],
  });
}

/** The rows as the caller sees them, without those of accounts whose processing is restricted. */
async function shown(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  rows: readonly Row[],
  scope: Scope,
): Promise<Answer<"listRecentRejections">["rejections"]> {
  const macOf = (account: string): Buffer => pseudonymizer.restrictedAccountOf(account);
  const accounts = [...new Set(rows.flatMap(({ account }) => account ?? []))];
  const restricted = await findRestricted(executor, accounts.map(macOf));
  const isRestricted = (account: string | null): boolean =>
    account !== null && restricted.has(macOf(account).toString("hex"));
  return rows.flatMap(({ account, violations, places, ...row }) => {
    // guard(false): a restricted account is in no list
    if (isRestricted(account)) return [];
    const isNamed = account === null || scope !== "pseudonyms";
    return {
      ...row,
      status: statusOf(row.problem),
      account: isNamed ? account : pseudonymizer.shownPseudonymOf("account", account),
      rules: violations.map((violation, index) => ({ violation: violation || null, place: places[index] || null })),
    };
  });
}

/** `null` for a problem of another release. */
const statusOf = (problem: string): number | null =>
  Object.hasOwn(PROBLEMS, problem) ? PROBLEMS[problem as keyof typeof PROBLEMS].status : null;
