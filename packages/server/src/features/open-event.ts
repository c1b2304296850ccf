import type { ParsedEvent } from "@device-risk-signals/features/readings";
import { openIfReadable } from "../crypto/open-if-readable.ts";
import type { Sealer, StoredEvent } from "../ports.ts";
import type { FailureReason } from "./failures.ts";
import { parseEvent } from "./parse-event.ts";

export interface OpenedEvent {
  readonly event: StoredEvent;
  readonly exact: Buffer;
  readonly parsed: ParsedEvent;
}

/** Opens and parses an event. @throws Unavailable */
export async function openForFeatures(
  sealer: Sealer,
  event: StoredEvent,
): Promise<OpenedEvent | { readonly reason: FailureReason }> {
  const exact = await openIfReadable(sealer, event);
  if (!exact) return { reason: "unreadable" };
  const parsed = parseEvent(event.platform, exact);
  return parsed ? { event, exact, parsed } : { reason: "not-json" };
}
