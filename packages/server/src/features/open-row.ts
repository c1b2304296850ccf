import type { FeatureSealer, SealedFeatures } from "../store/crypto/feature-sealer.ts";
import type { FeatureRow } from "./feature-rows.ts";

/** @returns `undefined` for a row whose secrets were destroyed or lost, or that was damaged. @throws Unavailable */
export async function openRow(sealer: FeatureSealer, row: FeatureRow): Promise<Buffer | undefined> {
  return (await sealer.openMany([sealedOf(row)]))[0];
}

export function sealedOf(row: FeatureRow): SealedFeatures {
  const { account, event_id: eventId, layer, purpose, received_at, key_id: keyId, hold_id: holdId, payload } = row;
  return {
    identity: { account, eventId, layer, purpose, receivedAt: Date.parse(received_at) },
    keyId,
    holdId,
    payload,
  };
}
