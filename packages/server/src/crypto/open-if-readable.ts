import { KeysGone, type Sealer, type StoredEvent } from "../ports.ts";
import { SealBroken } from "./sealer.ts";

/** Whether a fault says that an event can't be opened: its keys are lost, or its row was damaged. */
export const isUnreadable = (fault: unknown): fault is KeysGone | SealBroken =>
  fault instanceof KeysGone || fault instanceof SealBroken;

/** @returns the exact bytes, or `undefined` for what can't be opened. @throws Unavailable */
export async function openIfReadable(sealer: Sealer, event: StoredEvent): Promise<Buffer | undefined> {
  try {
    return await sealer.open(event, event.sealedUnder, event.payload);
  } catch (fault) {
    if (isUnreadable(fault)) return undefined;
    throw fault;
  }
}
