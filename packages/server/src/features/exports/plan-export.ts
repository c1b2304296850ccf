/** The layers of an export of features, and its columns. */
import type { Manifest } from "@device-risk-signals/features";
import { OperatorError } from "../../base/errors/operator-error.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { findBundles, type LayerRow, listLayers, nameOf } from "../decisions.ts";
import { stateNameOf, type TableColumn } from "./table.ts";

/** The layers and features from which the values of an export are read, and how they are written. */
export interface Plan {
  readonly columns: readonly TableColumn[];
  readonly layers: readonly LayerRow[];
}

/** @throws not-found for features that the purpose does not have. */
export async function planOf(
  executor: Executor,
  purpose: number,
  features: readonly string[],
  inputStates: boolean,
): Promise<Plan> {
  const ofPurpose = (await listLayers(executor)).filter((layer) => layer.purpose === purpose);
  const missing = features.filter((name) => !ofPurpose.some(({ members }) => members.includes(name)));
  // guard(false): a purpose never gets a feature that was adopted for another one only
  if (missing.length > 0) {
    throw new OperatorError(
      "not-found",
      `Never adopted for this purpose: ${missing.join(", ")}. See drs feature layers.`,
    );
  }
  const bundles = await findBundles(executor, features);
  return {
    layers: ofPurpose.filter(({ members }) => members.some((name) => features.includes(name))),
    columns: bundles.map(({ manifest }) => columnOf(manifest, inputStates)),
  };
}

function columnOf(
  { id, version, hash, meaning, falseReadings, output, inputs }: Manifest,
  inputStates: boolean,
): TableColumn {
  const name = `${id}__v${version}`;
  const inputColumns = inputs.map((input) => ({
    column: stateNameOf(`${name}__${input.name}`),
    field: input.path.join("."),
  }));
  return {
    name,
    feature: nameOf({ id, version }),
    hash,
    meaning,
    type: output.type,
    unit: output.type === "number" ? output.unit : null,
    false_readings: [...falseReadings],
    inputs: inputStates ? inputColumns : [],
  };
}
