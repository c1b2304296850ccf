/** Reads labels in batches, and finds the values of each batch while earlier ones are written. */
import { OperatorError } from "../../base/errors/operator-error.ts";
import { labelBatches, type LabelSource } from "./check-labels.ts";
import type { FeatureExport } from "./export-table.ts";
import {
  batchSizeOf,
  findValues,
  type FoundValues,
  MAX_EVENTS,
  type ValuePorts,
  type ValueScope,
} from "./find-values.ts";
import type { Label } from "./labels.ts";

export interface FoundBatch {
  readonly labels: readonly NumberedLabel[];
  /** The values of the events of each label. */
  readonly found: readonly (readonly FoundValues[])[];
  /** The places of the labels that have more events. */
  readonly limited: ReadonlySet<number>;
  /** The number of labels, with the labels that are left out. */
  readonly size: number;
}

/** Number of batches whose values are read while earlier ones are written. */
const BATCHES_AHEAD = 2;

/** @throws input-invalid if the labels have changed in the meantime. */
export async function* foundBatches(
  ports: ValuePorts,
  { labels_sha256: sha256 }: Pick<FeatureExport, "labels_sha256">,
  source: LabelSource,
  { scope, leftOut }: { readonly scope: ValueScope; readonly leftOut: ReadonlySet<number> },
): AsyncGenerator<FoundBatch> {
  const find = async (batch: readonly Label[], first: number): Promise<FoundBatch> => {
    const labels = numbered(batch, first, leftOut);
    const subjects = labels.map(({ label }) => label);
    const found = await findValues(ports, scope, subjects);
    return {
      labels,
      found: found.map((events) => events.slice(0, MAX_EVENTS)),
      limited: new Set(found.flatMap((events, index) => (events.length > MAX_EVENTS ? [index] : []))),
      size: batch.length,
    };
  };
  const batches = labelBatches(source, batchSizeOf(scope));
  const ahead: Promise<FoundBatch>[] = [];
  try {
    for (let first = 1; ;) {
      const batch = await batches.next();
      if (batch.done) {
        if (batch.value !== sha256) throw notTheLabels();
        break;
      }
      const found = find(batch.value, first);
      // The rejection is handled where the batch is awaited.
      // guard(drop): values that can't be read fail their export alone
      found.catch(() => {});
      ahead.push(found);
      first += batch.value.length;
      if (ahead.length > BATCHES_AHEAD) yield (await ahead.shift()) as FoundBatch;
    }
    for (const found of ahead) yield await found;
  } finally {
    await Promise.allSettled(ahead);
    await batches.return("");
  }
}

export interface NumberedLabel {
  readonly row: number;
  readonly label: Label;
}

function numbered(batch: readonly Label[], first: number, leftOut: ReadonlySet<number>): readonly NumberedLabel[] {
  const labels: NumberedLabel[] = [];
  for (const [index, label] of batch.entries()) {
    const row = first + index;
    // guard(false): a repetition lacks the rows of what was erased
    if (leftOut.has(row)) continue;
    labels.push({ row, label });
  }
  return labels;
}

export const notTheLabels = (): OperatorError =>
  new OperatorError("input-invalid", "The labels are not those of the export: their SHA-256 differs.");
