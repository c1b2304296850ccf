import { KeysDestroyed, type Sealer, type StoredEvent } from "../ports.ts";
import { PayloadDamaged } from "./sealer.ts";

/** Whether a error says that an event can't be opened: its keys are lost, or its row was damaged. */
export const isUnreadable = (error: unknown): error is KeysDestroyed | PayloadDamaged =>
  error instanceof KeysDestroyed || error instanceof PayloadDamaged;

/** @returns the exact bytes, or `undefined` for what can't be opened. @throws Unavailable */
export async function openIfReadable(sealer: Sealer, event: StoredEvent): Promise<Buffer | undefined> {
  try {
    return await sealer.open(event, event.sealedUnder, event.payload);
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}
