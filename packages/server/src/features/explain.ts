/**
 * Explains where a stored value comes from: the event, the code and the decisions. The explanation exists even after
 * the event has expired.
 */
import type { Bundle } from "@device-risk-signals/features";
import type { FeatureSealer } from "../store/crypto/feature-sealer.ts";
import { findAttributes, receivedAtOf } from "../store/events/read-events.ts";
import { readPurposeIds } from "../purposes/policy-table.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { type AttestationRow, isAttested, isCovered, listAttestations } from "./attestations.ts";
import { type FeatureName, findBundles, type LayerRow, listDecisions, listLayers } from "./decisions.ts";
import { type FeatureAttributes, type FeatureRow, findFeatureAttributes } from "./feature-rows.ts";
import { leafOf } from "./leaves.ts";
import { openFeatures, type ReadFeature } from "./read-features.ts";
import { openRow } from "./open-row.ts";

export type Decision = Awaited<ReturnType<typeof listDecisions>>[number];

/** The decisions that a layer follows from. */
export interface Lineage {
  readonly proposed: Decision | undefined;
  readonly adopted: Decision | undefined;
  /** The decision that ended the computation for the purpose. */
  readonly retired: Decision | undefined;
}

export interface Explanation {
  readonly result: ReadFeature;
  /** SHA-256 of the exact bytes of the event, in hexadecimal. */
  readonly sha256: string;
  readonly bundle: Bundle;
  readonly lineage: Lineage;
  /** The attestation of the layer and the partition of the event, if the row was stored before it. */
  readonly attestation: (AttestationRow & { readonly isIncluded: boolean }) | undefined;
}

export interface ExplainedEvent {
  readonly row: FeatureRow;
  /** The id of the purpose. */
  readonly purpose: string;
  /** Whether the event itself can still be read. */
  readonly isStored: boolean;
  /** One for each layer with the feature, the newest layer first. */
  readonly explanations: readonly Explanation[];
}

interface ExplainPorts {
  readonly executor: Executor;
  readonly sealer: FeatureSealer;
  /** Reads the sealed values of rows of one event. */
  readonly reveal: (rows: readonly [FeatureAttributes, ...FeatureAttributes[]]) => Promise<readonly FeatureRow[]>;
}

/**
 * Explains the values of a feature for one event.
 * @param feature an id, or `id@version`.
 * @returns `undefined` if no value may be read, or if none can be opened. @throws Unavailable
 */
export async function explainFeature(
  { executor, sealer, reveal }: ExplainPorts,
  eventId: string,
  feature: string,
): Promise<ExplainedEvent | undefined> {
  const layers = await listLayers(executor);
  const ofFeature = layers.filter(({ members }) => members.some((name) => isVersionOf(name, feature)));
  const all = await findFeatureAttributes(executor, { eventId, receivedAt: receivedAtOf(eventId) }, layers.length);
  const [first, ...others] = all.filter((row) => ofFeature.some(({ layer }) => layer === row.layer));
  if (!first) return undefined;
  const rows = await reveal([first, ...others]);
  const explanations: Explanation[] = [];
  const purposes = await readPurposeIds(executor);
  for (const row of rows.toReversed()) {
    const layer = ofFeature.find((one) => one.layer === row.layer);
    const opened = layer && (await openFeatures(sealer, layers, row));
    if (!opened) continue;
    const purpose = purposes.get(row.purpose) ?? "";
    for (const result of opened.features.filter((one) => isVersionOf(one.feature, feature))) {
      const attestation = await attestationOf({ executor, sealer }, row);
      const origin = await originOf(executor, result.feature, layer, purpose);
      explanations.push({ result, sha256: opened.sha256, attestation, ...origin });
    }
  }
  const [row] = rows;
  if (!row || explanations.length === 0) return undefined;
  const isStored = (await findAttributes(executor, eventId)) !== undefined;
  return { row, purpose: purposes.get(row.purpose) ?? "", isStored, explanations };
}

const isVersionOf = (name: FeatureName, feature: string): boolean => name === feature || name.startsWith(`${feature}@`);

/** The attestation of a row's partition and layer, and whether the row is among its leaves. */
async function attestationOf(
  { executor, sealer }: Pick<ExplainPorts, "executor" | "sealer">,
  row: FeatureRow,
): Promise<Explanation["attestation"]> {
  const attestations = await listAttestations(executor, { at: row.received_at, layer: row.layer }, { limit: 1 });
  const [attestation] = attestations;
  // guard(false): an attestation says nothing of rows that were stored later
  if (attestation && !isCovered(row.extracted_at, attestation)) return undefined;
  const bytes = attestation && (await openRow(sealer, row));
  if (!bytes) return undefined;
  return { ...attestation, isIncluded: await isAttested(executor, attestation, leafOf(bytes)) };
}

async function originOf(
  executor: Executor,
  name: FeatureName,
  layer: LayerRow,
  purpose: string,
): Promise<Pick<Explanation, "bundle" | "lineage">> {
  const [bundle] = await findBundles(executor, [name]);
  const decisions = await listDecisions(executor, Number.MAX_SAFE_INTEGER, name);
  return { bundle: bundle as Bundle, lineage: lineageOf(decisions, layer, purpose) };
}

/**
 * Finds the decisions that led to a version being in a layer. If another feature of a layer is retired, a new layer
 * continues with the version, but the adoption is still that of the old layer.
 * @param decisions about the version, newest first. @param purpose the id of the layer's purpose.
 */
export function lineageOf(
  decisions: readonly Decision[],
  { active_from }: Pick<LayerRow, "active_from">,
  purpose: string,
): Lineage {
  const ofPurpose = decisions.filter((decision) => decision.purpose === purpose);
  const adopted = ofPurpose.find(({ kind, decided_at }) => kind === "adopted" && decided_at <= active_from);
  return {
    proposed: decisions.find(({ kind }) => kind === "proposed"),
    adopted,
    retired: ofPurpose.findLast(({ kind, decision }) => kind === "retired" && decision > (adopted?.decision ?? 0)),
  };
}
