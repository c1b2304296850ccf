/** The parts of the file of an export of features, and the subjects that they have data of. */
import type { FeatureExportManifest } from "@device-risk-signals/admin-api";
import type { FeatureSealer } from "../../store/crypto/feature-sealer.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import type { Executor, OwnerConnection } from "../../store/postgres/executor.ts";
import type { LabelSource } from "./check-labels.ts";
import { type ExportPart, MeasuredBytes } from "./export-parts.ts";
import { eventOf, subjectsOf } from "./export-subjects.ts";
import {
  type ExportedSubject,
  type FeatureExport,
  findSubjects,
  identityOfSubject,
  insertSubjects,
  recordOldest,
} from "./export-table.ts";
import { type FoundValues, MAX_EVENTS, type ValueScope } from "./find-values.ts";
import { type FoundBatch, foundBatches, type NumberedLabel } from "./found-batches.ts";
import { oldestOf, requireWithinPeriod } from "./latest-expiry.ts";
import { planOf } from "./plan-export.ts";
import { findRecalledRowsBetween } from "./recalls.ts";
import type { Cell, TableHead, TableRow } from "./table.ts";
import { createTableWriter, CSV_PREFIX } from "./table-writer.ts";

export interface FilePorts {
  readonly executor: Executor;
  readonly featureSealer: FeatureSealer;
  readonly pseudonymizer: Pseudonymizer;
  /** @param rows number of labels that are processed. */
  readonly onProgress: (rows: number) => void;
}

export async function* partsOf(
  ports: FilePorts,
  owner: OwnerConnection,
  record: FeatureExport,
  source: LabelSource,
  leftOut: ReadonlySet<number>,
): AsyncGenerator<ExportPart<FeatureExportManifest>> {
  const { executor, featureSealer: sealer, onProgress } = ports;
  const { export_id, purpose, purpose_code, format, expires_on, watermark, attributes, history_ms } = record;
  const { columns, layers } = await planOf(executor, purpose_code, record.features, record.input_states);
  const scope: ValueScope = {
    purpose: purpose_code,
    features: record.features,
    layers,
    isKnown: record.clock === "known",
    inputStates: record.input_states,
    historyMs: history_ms,
    watermark,
  };
  const file = new MeasuredBytes();
  const head: TableHead = { export_id, expires_on, hasHistory: history_ms !== null, attributes, columns };
  const table = await createTableWriter(format, head, async (bytes) => file.append(bytes));
  const counts = columns.map((): Record<string, number> => ({}));
  let [row, written, empty, limited] = [0, 0, 0, 0];
  const batches = foundBatches({ executor, sealer }, record, source, { scope, leftOut });
  // The rows of a batch are written while the next one is checked.
  let writing: Promise<void> = Promise.resolve();
  for await (const batch of batches) {
    row += batch.size;
    const found = await withoutErased(owner, record, batch.labels, await withSubjects(ports, owner, record, batch));
    const rows = batch.labels.flatMap((one, index) => rowsOf(one, found[index] ?? [], head));
    await writing;
    yield* file.take();
    writing = table.write(rows);
    // The rejection is handled where the promise is awaited.
    writing.catch(() => {});
    for (const { cells } of rows) count(counts, cells);
    written += rows.length;
    empty += found.filter((events) => events.length === 0).length;
    limited += batch.limited.size;
    onProgress(row);
  }
  await writing;
  await table.end();
  yield* file.take();
  const manifest: FeatureExportManifest = {
    manifest_version: 1,
    kind: "features",
    export_id,
    purpose,
    clock: record.clock,
    format,
    recipient: record.recipient,
    expires_on,
    watermark,
    labels: { sha256: record.labels_sha256, rows: row },
    file: { ...file.measured(), rows: written },
    empty_rows: empty,
    attributes: [...attributes],
    history: history_ms === null ? null : { ms: history_ms, max_events: MAX_EVENTS, limited_labels: limited },
    text_prefix: format === "csv" ? CSV_PREFIX : null,
    columns: columns.map((column, index) => ({ ...column, states: counts[index] ?? {} })),
  };
  yield { manifest };
}

/**
 * Leaves out values that a finished export did not have, such as those of an account whose restriction was lifted since.
 * Values of an export that did not end were never handed out as a whole, so all of them are written.
 */
async function withoutNew(
  { pseudonymizer }: FilePorts,
  owner: OwnerConnection,
  { export_id, manifest }: FeatureExport,
  labels: readonly NumberedLabel[],
  found: FoundBatch["found"],
): Promise<FoundBatch["found"]> {
  if (manifest === null) return found;
  const subjectOf = (index: number, { eventId }: FoundValues): ExportedSubject =>
    eventOf(pseudonymizer, labels[index]?.row ?? 0, eventId);
  const subjects = found.flatMap((events, index) => events.map((values) => subjectOf(index, values)));
  const known = await findSubjects(owner, export_id, subjects);
  const isKnown = (index: number, values: FoundValues): boolean =>
    known.has(identityOfSubject(subjectOf(index, values)));
  // guard(true): a repetition has no values that the export did not have
  return found.map((events, index) => events.flatMap((values) => (isKnown(index, values) ? values : [])));
}

/** Records whose data a batch of rows contains, before the rows are written. @returns the values for the rows. */
async function withSubjects(
  ports: FilePorts,
  owner: OwnerConnection,
  record: FeatureExport,
  { labels, found: foundNow }: FoundBatch,
): Promise<FoundBatch["found"]> {
  const found = await withoutNew(ports, owner, record, labels, foundNow);
  const oldest = oldestOf(found.flatMap((events) => events.map(({ receivedAt }) => receivedAt)));
  if (record.manifest === null && oldest !== undefined) {
    // Values that were stored after the labels were checked may be of older events.
    await requireWithinPeriod(owner, { purpose: record.purpose_code, expiresOn: record.expires_on }, oldest);
    await recordOldest(owner, record.export_id, oldest);
  }
  const subjects = labels.flatMap(({ row }, index) => {
    const own = (found[index] ?? []).flatMap((values) =>
      subjectsOf(ports.pseudonymizer, row, { ...values, purpose: record.purpose_code }),
    );
    // The events of a label share subjects, such as the account.
    return [...new Map(own.map((subject) => [identityOfSubject(subject), subject])).values()];
  });
  // guard(drop): an erasure finds whose values were written
  await insertSubjects(owner, record.export_id, subjects);
  return found;
}

/**
 * Leaves out values that were erased after they were read. An erasure that begins later finds the recorded subjects, and
 * its receipt names the rows.
 */
async function withoutErased(
  owner: OwnerConnection,
  { export_id }: FeatureExport,
  labels: readonly NumberedLabel[],
  found: FoundBatch["found"],
): Promise<FoundBatch["found"]> {
  const [first, last] = [labels.at(0), labels.at(-1)];
  if (!first || !last) return found;
  const erased = await findRecalledRowsBetween(owner, export_id, first.row, last.row);
  // guard(false): an export writes no values that were erased after it had read them
  if (erased.size > 0) return found.map((events, index) => (erased.has(labels[index]?.row ?? 0) ? [] : events));
  return found;
}
/** A row for each event of a label, or one without values. */
function rowsOf({ row, label }: NumberedLabel, found: readonly FoundValues[], head: TableHead): readonly TableRow[] {
  const ofLabel = { row, labelTime: label.labelTime, labelAt: label.at, label: label.label };
  if (found.length === 0) {
    const nothing = { event: null, receivedAt: null, extractedAt: null };
    return [
      { ...ofLabel, ...nothing, attributes: head.attributes.map(() => null), cells: head.columns.map(() => NO_ROW) },
    ];
  }
  return found.map(({ receivedAt, extractedAt, attributes, cells }, index) => ({
    ...ofLabel,
    event: index + 1,
    receivedAt,
    extractedAt,
    attributes: head.attributes.map((name) => attributes[name]),
    cells,
  }));
}

/** The cell of a label for which nothing was found. */
const NO_ROW: Cell = { value: null, state: "no-row" };

function count(counts: readonly Record<string, number>[], cells: readonly Cell[]): void {
  for (const [index, { state }] of cells.entries()) {
    const of = counts[index];
    if (of) of[state] = (of[state] ?? 0) + 1;
  }
}
