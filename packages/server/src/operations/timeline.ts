import { scopeOf } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import { timelineOfIdempotencyKey } from "../audit/timeline.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { findRestricted } from "../lifecycle/restrictions/restriction-table.ts";
import { findAttributes } from "../store/events/read-events.ts";
import { findTombstone } from "../store/events/tombstones.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import type { Operation } from "./operation.ts";
import { requireReplayedJournal } from "./ports.ts";
import { type EventPorts, seesRestricted } from "./reveal.ts";

const LIMIT = 100;

type TimelinePorts = EventPorts | "keys.pseudonymizer";

export const readTimeline: Operation<"readTimeline", TimelinePorts> = async ({ ports, caller, input }) => {
  await requireReplayedJournal(ports);
  const { pool } = ports;
  const { audit, pseudonymizer } = await ports.keys();
  const { account, idempotency_key, limit = LIMIT } = input;
  const found = await timelineOfIdempotencyKey(pool, audit.named(account), idempotency_key, limit);
  const event = found && (await findAttributes(pool, found.event_id, { includeRestricted: true }));
  const isRestricted = async (): Promise<boolean> =>
    event?.restricted ?? (await findRestricted(pool, [pseudonymizer.restrictedAccountOf(account)])).size > 0;
  // guard(false): a restricted event has a timeline for the role privacy alone
  const isHidden = !seesRestricted(caller) && (await isRestricted());
  const timeline = isHidden ? undefined : found;
  if (timeline) {
    const state = event ? "stored" : "expired";
    return {
      answer: { ...timeline, state, erased_at: null, entries: [...timeline.entries] },
      audit: { account, eventIds: [timeline.event_id] },
    };
  }
  const named = { account, key: idempotency_key };
  // guard(true): to a role that can't list erasures, an erased event never existed
  const erasedAt = seesErasures(caller) ? await findTombstone(pool, pseudonymizer, named) : undefined;
  if (erasedAt === undefined) {
    const entry = { ...agentOf(caller), operation: "event.timeline", outcome: "not-found", account };
    await writeAudit(pool, audit, entry);
    throw new OperatorError("not-found", "No event of this account holds this idempotency key.");
  }
  return {
    answer: { event_id: null, state: "erased", erased_at: erasedAt, entries: [], more: false, unnamed: NOTHING },
    audit: { account },
  };
};

const NOTHING = { entries: 0, occurrences: 0 };

/** A caller who may list the erasures of an account may also learn that the event of a key is erased. */
const seesErasures = ({ roles }: Caller): boolean =>
  roles.length === 0 || scopeOf("governance.read", roles) !== undefined;
