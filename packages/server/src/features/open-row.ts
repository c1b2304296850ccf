import type { FeatureSealer } from "../crypto/feature-sealer.ts";
import { isUnreadable } from "../crypto/open-if-readable.ts";
import type { FeatureRow } from "./feature-rows.ts";

/** @returns `undefined` for a row whose keys are lost, or which was damaged. @throws Unavailable */
export async function openRow(sealer: FeatureSealer, row: FeatureRow): Promise<Buffer | undefined> {
  const { account, event_id: eventId, layer, purpose, received_at, key_id, hold_id, payload } = row;
  const identity = { account, eventId, layer, purpose, receivedAt: Date.parse(received_at) };
  try {
    return await (hold_id === null
      ? sealer.open(identity, key_id, payload)
      : sealer.openCopy(identity, hold_id, payload));
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}
