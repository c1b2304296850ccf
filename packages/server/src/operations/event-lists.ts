/** What lists of events have in common: their filters, and how a caller sees their rows. */
import type { Answer, Input, Scope } from "@device-risk-signals/admin-api";
import type { Caller } from "../access/identity/caller.ts";
import { findPurposeCode, readPurposeIds } from "../purposes/policy-table.ts";
import type { EventFilter } from "../store/events/list-events.ts";
import type { ListedEvent } from "../store/events/read-events.ts";
import type { Executor } from "../store/postgres/executor.ts";
import type { Ports } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { refusedNames } from "./pseudonyms.ts";

/** The filters whose values some callers see only as pseudonyms. */
const NAMING_FILTERS = ["account", "action_id", "session_id", "idempotency_key"] as const;
/** Time limit of a search that no index serves. */
export const SEARCH_MS = 2_000;

type ListInput = Input<"listEvents">;

/** @throws AdminError permission-missing, request-invalid */
export function requireAllowedFilter(scope: Scope, input: ListInput): void {
  // guard(false): a caller who sees pseudonyms can't search by names
  if (scope === "pseudonyms" && NAMING_FILTERS.some((name) => input[name] !== undefined)) throw refusedNames();
  const { account, session_id, idempotency_key } = input;
  if (account !== undefined || (session_id ?? idempotency_key) === undefined) return;
  throw new AdminError("request-invalid", {
    errors: [
      { where: "querystring", detail: "session_id and idempotency_key name something of an account: give account" },
    ],
  });
}

/** The filter for the detail of an audit entry, without the account, which the entry has elsewhere. */
export const shownFilter = (filter: ListInput, { includeRestricted = false }: Caller): object => ({
  ...Object.fromEntries(Object.entries(filter).filter(([name]) => name !== "account")),
  ...(includeRestricted && { include_restricted: true }),
});

/** @param cursor the time at which a search ended early; milliseconds since the Unix epoch. */
export async function filterOf({ pool }: Ports<"pool">, input: ListInput, cursor?: number): Promise<EventFilter> {
  const ends = [cursor, input.to === undefined ? undefined : Date.parse(input.to)].filter((end) => end !== undefined);
  return {
    ...(input.account !== undefined && { account: input.account }),
    ...(input.action_id !== undefined && { actionId: input.action_id }),
    ...(input.action_type !== undefined && { actionType: input.action_type }),
    ...(input.sdk_version !== undefined && { sdkVersion: input.sdk_version }),
    ...(input.session_id !== undefined && { sessionId: input.session_id }),
    ...(input.idempotency_key !== undefined && { idempotencyKey: input.idempotency_key }),
    ...(input.platform !== undefined && { platform: input.platform }),
    ...(input.purpose !== undefined && { purpose: await purposeCode(pool, input.purpose) }),
    ...(input.from !== undefined && { from: Date.parse(input.from) }),
    ...(ends.length > 0 && { to: Math.min(...ends) }),
  };
}

async function purposeCode(pool: Executor, id: string): Promise<number> {
  const code = await findPurposeCode(pool, id);
  if (code !== undefined) return code;
  throw new AdminError("request-invalid", {
    errors: [{ where: "querystring/purpose", detail: "there is no such purpose" }],
  });
}

export type ShownPorts = "keys.pseudonymizer" | "pool";

/**
 * The events as the caller sees them. With the scope `pseudonyms`, accounts, actions, sessions and idempotency keys are
 * pseudonyms.
 */
export async function shown(
  { pool, keys }: Ports<ShownPorts>,
  events: readonly ListedEvent[],
  scope: Scope,
): Promise<Answer<"listEvents">["events"]> {
  const purposes = await readPurposeIds(pool);
  const { pseudonymizer } = await keys();
  return events.map((row) => {
    const event = { ...row, purpose: purposes.get(row.purpose) ?? String(row.purpose) };
    if (scope !== "pseudonyms") return event;
    const { account } = row;
    return {
      ...event,
      action_id: pseudonymizer.shownPseudonymOf("action", account, row.action_id),
      account: pseudonymizer.shownPseudonymOf("account", account),
      session_id: pseudonymizer.shownPseudonymOf("session", account, row.session_id),
      idempotency_key: pseudonymizer.shownPseudonymOf("idempotency-key", account, row.idempotency_key),
    };
  });
}
