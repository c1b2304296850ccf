/** The tail of events, which a page reads again each second. */
import { MAX_TAIL } from "@device-risk-signals/admin-api";
import { agentOf } from "../access/identity/caller.ts";
import { writeAudit } from "../audit/audit.ts";
import { findEvents } from "../store/events/find-events.ts";
import { auditOnce } from "./audit-once.ts";
import { filterOf, requireAllowedFilter, SEARCH_MS, shown, type ShownPorts } from "./event-lists.ts";
import type { Operation } from "./operation.ts";
import { type ReplayedPorts, requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { seesRestricted } from "./reveal.ts";

const DAY_MS = 86_400_000;
const DEFAULT_MS = 600_000;
type TailPorts = "clock" | "keys.audit" | "monotonic" | ReplayedPorts | ShownPorts;

export const tailEvents: Operation<"tailEvents", TailPorts> = async ({ ports, caller, scope, input }) => {
  await requireReplayedJournal(ports);
  const { since, ...filter } = input;
  requireAllowedFilter(scope, filter);
  const from = since === undefined ? ports.clock.now() - DEFAULT_MS : Date.parse(since);
  if (ports.clock.now() - from > DAY_MS) {
    const errors = [{ where: "querystring/since", detail: "is more than a day ago: list the events instead" }];
    throw new AdminError("request-invalid", { errors });
  }
  const selection = { ...(await filterOf(ports, filter)), from, includeRestricted: seesRestricted(caller) };
  const found = await findEvents(ports.pool, ports.monotonic, {
    filter: selection,
    limit: MAX_TAIL + 1,
    after: undefined,
    timeMs: SEARCH_MS,
  });
  const events = found.events.slice(0, MAX_TAIL);
  const more = found.events.length > events.length || found.searchedUntil !== undefined;
  const answer = { events: await shown(ports, events, scope), more };
  // guard(drop): a tail is audited before it is answered
  await auditOnce(ports.pool, JSON.stringify([caller.actor, "event.tail", filter]), ports.monotonic, async () => {
    const named = { ...(filter.account !== undefined && { account: filter.account }), detail: { filter } };
    const entry = { ...agentOf(caller), operation: "event.tail", outcome: "done", ...named };
    await writeAudit(ports.pool, (await ports.keys()).audit, entry);
  });
  return { answer };
};
