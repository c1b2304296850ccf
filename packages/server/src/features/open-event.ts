import type { ParsedEvent } from "@device-risk-signals/features/readings";
import type { Sealer, StoredEvent } from "../base/ports.ts";
import type { FailureReason } from "./failures.ts";
import { parseEvent } from "./parse-event.ts";
import type { ParseEvent } from "./read-inputs.ts";

export interface OpenedEvent {
  readonly event: StoredEvent;
  readonly exact: Buffer;
  readonly parsed: ParsedEvent;
}

/** An event that can't be opened or parsed. */
export interface UnopenedEvent {
  readonly event: StoredEvent;
  readonly reason: FailureReason;
}

/** Opens and parses events. @returns them in their order. @throws Unavailable */
export async function openForFeatures(
  sealer: Sealer,
  events: readonly StoredEvent[],
  parse: ParseEvent = parseEvent,
): Promise<readonly (OpenedEvent | UnopenedEvent)[]> {
  const opened = await sealer.openMany(events);
  return events.map((event, index) => {
    const exact = opened[index];
    if (!exact) return { event, reason: "unreadable" };
    const parsed = parse(event.platform, exact);
    return parsed ? { event, exact, parsed } : { event, reason: "not-json" };
  });
}
