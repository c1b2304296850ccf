import { writeAudit } from "../audit/audit.ts";
import { timelineOfIdempotencyKey } from "../audit/timeline.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { findAttributes } from "../store/events/read-events.ts";
import { agentOf } from "../access/identity/caller.ts";
import type { Operation } from "./operation.ts";
import { requireReplayedJournal } from "./ports.ts";
import { type EventPorts, seesRestricted } from "./reveal.ts";

const LIMIT = 100;

export const readTimeline: Operation<"readTimeline", EventPorts> = async ({ ports, caller, input }) => {
  await requireReplayedJournal(ports);
  const { pool } = ports;
  const { audit } = await ports.keys();
  const { account, idempotency_key, limit = LIMIT } = input;
  const found = await timelineOfIdempotencyKey(pool, audit.named(account), idempotency_key, limit);
  const event = found && (await findAttributes(pool, found.event_id, { includeRestricted: true }));
  // guard(false): a restricted event has a timeline for the role privacy alone
  const timeline = event?.restricted && !seesRestricted(caller) ? undefined : found;
  if (!timeline) {
    const entry = { ...agentOf(caller), operation: "event.timeline", outcome: "not-found", account };
    await writeAudit(pool, audit, entry);
    throw new OperatorError("not-found", "No event of this account holds this idempotency key.");
  }
  return {
    answer: { ...timeline, entries: [...timeline.entries] },
    audit: { account, eventIds: [timeline.event_id] },
  };
};
