import type { FeatureRowIdentity, FeatureSealer } from "./feature-sealer.ts";

/** Seals the values of one event. */
export async function sealFeatures(
  sealer: Pick<FeatureSealer, "sealMany">,
  identity: FeatureRowIdentity,
  keyId: string,
  bytes: Uint8Array,
): Promise<Buffer> {
  const [payload] = await sealer.sealMany([{ identity, keyId, bytes }]);
  if (!payload) throw new Error("a row was not sealed");
  return payload;
}
