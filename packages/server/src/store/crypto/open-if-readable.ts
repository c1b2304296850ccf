import { hasCode, type OperatorError } from "../../base/errors/operator-error.ts";
import type { Sealer, StoredEvent } from "../../base/ports.ts";

export type Unreadable = OperatorError<"keys-destroyed"> | OperatorError<"payload-damaged">;

/** Whether an error means that an event can't be opened: its secrets were destroyed or lost, or its row was damaged. */
export const isUnreadable = (error: unknown): error is Unreadable =>
  hasCode(error, "keys-destroyed", "payload-damaged");

/** @returns `undefined` for an error that means that an event can't be opened. @throws any other error. */
export function orUnreadable(error: unknown): undefined {
  if (!isUnreadable(error)) throw error;
}

/** @returns the exact bytes, or `undefined` if the event can't be opened. @throws Unavailable */
export async function openIfReadable(sealer: Sealer, event: StoredEvent): Promise<Buffer | undefined> {
  try {
    return await sealer.open(event, event.sealedUnder, event.payload);
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}
