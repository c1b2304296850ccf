/** Features read the catalog and the fields that were accepted after a review, and nothing else. */
import type { Bundle } from "@device-risk-signals/features";
import type { DriftDecisions } from "../ingest/drift/drift-decisions.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { isStorable } from "./storable.ts";

const loadManifests = () => import("@device-risk-signals/features/manifest");

type Overlay = Parameters<Awaited<ReturnType<typeof loadManifests>>["outdatedInputs"]>[1];

async function readOverlay(executor: Executor, drift: DriftDecisions): Promise<Overlay> {
  const fields = (await drift.listAcceptedFields(executor)).map(({ path, type, unit, sensitivity }) => ({
    path: path.split("."),
    type,
    ...(unit !== null && { unit }),
    sensitivity,
  }));
  return { fields };
}

/**
 * Compares the inputs of each manifest with the catalog and the accepted fields, so that a manifest can't lower the
 * sensitivity of a field or change how the field is read. @throws input-invalid
 */
export async function requirePublishedInputs(
  executor: Executor,
  drift: DriftDecisions,
  bundles: readonly Bundle[],
): Promise<void> {
  const unstorable = bundles.findIndex((bundle) => !isStorable(bundle));
  // guard(false): what is archived can be read again
  if (unstorable !== -1) {
    throw new OperatorError(
      "input-invalid",
      `Bundle ${unstorable + 1} contains a text with U+0000 or half of a surrogate pair, or more than 100 levels.`,
    );
  }
  const { manifestProblems } = await loadManifests();
  const overlay = await readOverlay(executor, drift);
  const at = bundles.findIndex(({ manifest }) => manifestProblems(manifest, overlay).length > 0);
  if (at === -1) return;
  throw new OperatorError(
    "input-invalid",
    `Manifest ${at + 1} is not as the catalog and the accepted fields say. Run \`drs drift overlay --overlay overlay.json\` and \`drs feature test\`.`,
  );
}

/** Compares archived manifests with what is accepted now. @throws state-conflict */
export async function requireAcceptedInputs(
  executor: Executor,
  drift: DriftDecisions,
  bundles: readonly Bundle[],
): Promise<void> {
  const { outdatedInputs } = await loadManifests();
  const overlay = await readOverlay(executor, drift);
  const outdated = [...new Set(bundles.flatMap(({ manifest }) => outdatedInputs(manifest, overlay)))];
  // guard(false): features read a field beyond the catalog only while it is accepted
  if (outdated.length > 0) throw new OperatorError("state-conflict", `Nothing was adopted: ${outdated.join("; ")}.`);
}
