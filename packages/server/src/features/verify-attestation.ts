/** Verifies an attestation, and those of its rows that still exist. */
import { HASH_BYTES } from "../audit/log/merkle.ts";
import type { FeatureSealer } from "../store/crypto/feature-sealer.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { type AttestationRow, isCovered, readLeaves } from "./attestations.ts";
import { rowsOfLayer } from "./feature-rows.ts";
import { includesLeaf, leafOf, rootOf } from "./leaves.ts";
import { openRow } from "./open-row.ts";

export interface VerifiedAttestation {
  /** Whether there are as many leaves as the attestation says, and they give its root. */
  readonly isRootRight: boolean;
  /** Number of rows that still exist and were extracted before the attestation, without restricted ones. */
  readonly found: number;
  /** Number of found rows that are among the leaves. */
  readonly included: number;
  /** Number of found rows that can't be opened: their secrets are lost, or they were changed. */
  readonly unreadable: number;
}

export async function verifyAttestation(
  executor: Executor,
  sealer: FeatureSealer,
  attestation: AttestationRow,
): Promise<VerifiedAttestation> {
  const leaves = await readLeaves(executor, attestation);
  const isRootRight =
    leaves.length === attestation.equal * HASH_BYTES && rootOf(leaves).toString("hex") === attestation.root;
  const read = (offset: number, length: number): Buffer => leaves.subarray(offset, offset + length);
  let [found, included, unreadable] = [0, 0, 0];
  for await (const row of rowsOfLayer(executor, attestation)) {
    if (!isCovered(row.extracted_at, attestation)) continue;
    found++;
    const bytes = await openRow(sealer, row);
    if (!bytes) unreadable++;
    else if (await includesLeaf(leaves.length / HASH_BYTES, read, leafOf(bytes))) included++;
  }
  return { isRootRight, found, included, unreadable };
}
