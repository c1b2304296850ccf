/** The tail of events, which a page reads again each second. */
import { MAX_TAIL } from "@device-risk-signals/admin-api";
import { findEvents } from "../store/events/find-events.ts";
import { filterOf, NAMING_FILTERS, SEARCH_MS, shown, type ShownPorts } from "./event-lists.ts";
import type { Operation } from "./operation.ts";
import { type ReplayedPorts, requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { refusedNames } from "./pseudonyms.ts";
import { seesRestricted } from "./reveal.ts";

const DAY_MS = 86_400_000;
const DEFAULT_MS = 600_000;
const AUDITED_FOR_MS = 600_000;
/** More people with more filters are audited more often. */
const MAX_REMEMBERED = 1_000;

/** When a person's tail with a filter was audited last, by the pool of the server. */
const audited = new WeakMap<object, Map<string, number>>();

/** Whether an entry is due, which then counts as written. */
function isAuditDue(server: object, key: string, now: number): boolean {
  const times = audited.get(server) ?? new Map<string, number>();
  audited.set(server, times);
  if (now - (times.get(key) ?? -AUDITED_FOR_MS) < AUDITED_FOR_MS) return false;
  if (times.size >= MAX_REMEMBERED) times.clear();
  times.set(key, now);
  return true;
}

type TailPorts = "clock" | "monotonic" | ReplayedPorts | ShownPorts;

export const tailEvents: Operation<"tailEvents", TailPorts> = async ({ ports, caller, scope, input }) => {
  await requireReplayedJournal(ports);
  const { since, ...filter } = input;
  // guard(false): a caller who sees pseudonyms can't search by names
  if (scope === "pseudonyms" && NAMING_FILTERS.some((name) => name in filter)) throw refusedNames();
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
  const isDue = isAuditDue(ports.pool, JSON.stringify([caller.actor, filter]), ports.monotonic.now());
  return {
    answer: {
      events: await shown(ports, events, scope),
      more: found.events.length > events.length || found.searchedUntil !== undefined,
    },
    ...(isDue && {
      audit: { ...(filter.account !== undefined && { account: filter.account }), detail: { filter } },
    }),
  };
};
