/** Opens a page of events under one case. */
import type { Event } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import { agentOf } from "../access/identity/caller.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { findAttributes, type ListedEvent } from "../store/events/read-events.ts";
import { shown, type ShownPorts } from "./event-lists.ts";
import type { Operation } from "./operation.ts";
import { requireReplayedJournal } from "./ports.ts";
import { type EventAccess, type RevealPorts, revealTogether } from "./reveal.ts";
import { readableOf } from "./sensitive-fields.ts";

export const openEvents: Operation<"openEvents", RevealPorts | ShownPorts> = async ({
  ports,
  caller,
  scope,
  input,
}) => {
  await requireReplayedJournal(ports);
  const access = { ports, caller, operation: "event.read_observations" };
  const ids = [...new Set(input.event_ids.map((id) => id.toLowerCase()))];
  const found: ListedEvent[] = [];
  for (const id of ids) {
    const event = await findAttributes(ports.pool, id);
    if (event) found.push(event);
  }
  const missing = ids.filter((id) => !found.some(({ event_id }) => event_id === id));
  if (missing.length > 0) await auditMissing(access, missing);
  const [first, ...others] = found;
  if (!first) throw new OperatorError("not-found", "There is none of these events, or they are restricted.");
  const { entryId, opened, unopened } = await revealTogether(access, [first, ...others], input.case_id);
  const events = await shown(
    ports,
    opened.map(({ event }) => event),
    scope,
  );
  return {
    answer: {
      opened: opened.map(({ exact }, index) => {
        const { observations, withheld } = readableOf(exact, scope);
        return { event: events[index] as Event, observations, withheld: [...withheld] };
      }),
      unopened: [...unopened, ...missing.map((event_id) => ({ event_id, reason: "not-found" as const }))],
      audit_entry: entryId,
    },
  };
};

async function auditMissing({ ports, caller, operation }: EventAccess, eventIds: readonly string[]): Promise<void> {
  const { audit } = await ports.keys();
  await writeAudit(ports.pool, audit, { ...agentOf(caller), operation, outcome: "not-found", eventIds });
}
