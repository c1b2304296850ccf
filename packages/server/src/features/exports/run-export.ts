/** Exports of feature values for training: one row for each label, in order. */
import { randomUUID } from "node:crypto";
import type { ExportAttribute, FeatureExportManifest } from "@device-risk-signals/admin-api";
import type { Manifest } from "@device-risk-signals/features";
import type { AuditSigner } from "../../audit/audit-signer.ts";
import { type Agent, type AuditEntry, writeAudit } from "../../audit/audit.ts";
import type { FeatureSealer } from "../../store/crypto/feature-sealer.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { excludeIngestion } from "../../store/events/exclude-ingestion.ts";
import { type FeatureName, findBundles, type LayerRow, listLayers, nameOf } from "../decisions.ts";
import type { Clock } from "../../base/ports.ts";
import { requireExportAttributes } from "../../purposes/policy-table.ts";
import { inOwnerTransaction, type OwnerDatabase, streamOwner } from "../../store/postgres/database.ts";
import type { Executor, OwnerConnection, OwnerTransaction } from "../../store/postgres/executor.ts";
import { type CheckedLabels, checkLabels, labelBatches, type LabelSource } from "./check-labels.ts";
import { type ExportPart, MeasuredBytes } from "./export-parts.ts";
import { eventOf, subjectsOf } from "./export-subjects.ts";
import {
  type ExportClock,
  type ExportedSubject,
  type ExportOrder,
  type ExportRow,
  type FeatureFormat,
  findExport,
  findSubjects,
  identityOfSubject,
  finishExport,
  furtherOf,
  insertExport,
  insertSubjects,
  recordOldest,
} from "./export-table.ts";
import { batchSizeOf, findValues, type FoundValues, MAX_EVENTS, type ValueScope } from "./find-values.ts";
import type { Label } from "./labels.ts";
import { oldestOf, requireLabelsWithinPeriod, requireWithinPeriod } from "./latest-expiry.ts";
import { findRecalledRows, findRecalledRowsBetween } from "./recalls.ts";
import { type Cell, stateNameOf, type TableColumn, type TableHead, type TableRow } from "./table.ts";
import { createTableWriter, CSV_PREFIX } from "./table-writer.ts";

export interface ExportPorts {
  readonly executor: Executor;
  readonly administration: OwnerDatabase;
  readonly audit: AuditSigner;
  readonly featureSealer: FeatureSealer;
  readonly pseudonymizer: Pseudonymizer;
  readonly clock: Clock;
  /** @param rows number of labels that are processed. */
  readonly onProgress: (rows: number) => void;
}

/** The person who requests an export, and its approval. */
export type ExportAgent = Agent & Pick<AuditEntry, "approvalId">;

/** The layers and features from which the values of an export are read, and how they are written. */
interface Plan {
  readonly columns: readonly TableColumn[];
  readonly layers: readonly LayerRow[];
}

/**
 * Checks the whole order before anything is recorded or written.
 * @throws input-invalid, which reports bad labels by their line numbers, or the latest possible expiry; not-found for
 * features that the purpose does not have. @param onChecked receives the number of labels that were checked so far.
 */
export async function prepareExport(
  { executor, clock }: Pick<ExportPorts, "executor" | "clock">,
  order: Pick<ExportOrder, "purpose" | "features" | "clock" | "attributes" | "historyMs" | "expiresOn">,
  source: LabelSource,
  onChecked?: (rows: number) => void,
): Promise<CheckedLabels> {
  const { purpose } = order;
  const { layers } = await planOf(executor, purpose, order.features, false);
  await requireExportAttributes(executor, purpose, order.attributes);
  const labels = await checkLabels(source, clock.now(), executor, onChecked);
  requireGood(labels);
  const scope = { purpose, layers, isKnown: order.clock === "known", historyMs: order.historyMs };
  await requireLabelsWithinPeriod(executor, order, scope, source);
  return labels;
}

function requireGood({ problems, problemCount }: CheckedLabels): void {
  const more = problemCount > problems.length ? [`and ${problemCount - problems.length} more`] : [];
  // guard(false): no row of a file with bad rows is exported
  if (problemCount > 0) {
    throw new OperatorError("input-invalid", ["Nothing was exported. Bad labels:", ...problems, ...more].join("\n  "));
  }
}

async function planOf(
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

/** Called in the transaction that records an export or audits its repetition. */
export type OnRecord = (owner: OwnerTransaction) => Promise<void>;

/**
 * Begins an export that `prepareExport` has checked. Its record and its audit entry exist when the promise resolves.
 * @returns the parts of the file.
 */
export async function beginExport(
  ports: ExportPorts,
  order: ExportOrder,
  source: LabelSource,
  labels: CheckedLabels,
  agent: ExportAgent,
  onRecord: OnRecord = async () => {},
): Promise<AsyncIterable<ExportPart<FeatureExportManifest>>> {
  const exportId = randomUUID();
  await inOwnerTransaction(ports.administration, async (owner) => {
    // guard(drop): values that are being stored are not in the export, and so not in a repetition either
    await excludeIngestion(owner);
    await onRecord(owner);
    await insertExport(owner, exportId, { ...order, labels, actor: agent.actor });
    // guard(drop): the audit says what was handed out, to whom and why
    await writeAudit(owner, ports.audit, {
      ...agent,
      operation: "export.run",
      outcome: "done",
      reason: order.reason,
      detail: {
        features: order.features,
        purpose: order.purpose,
        recipient: order.recipient,
        rows: labels.rows,
        ...furtherOf(order),
      },
      references: { export_id: exportId },
    });
  });
  const record = await requireFeatureExport(ports.executor, exportId);
  return streamOwner(ports.administration, async function* (owner) {
    for await (const part of partsOf(ports, owner, record, source, new Set())) {
      if ("manifest" in part) await finishExport(owner, part.manifest);
      yield part;
    }
  });
}

/** @throws not-found */
export async function requireExport(executor: Executor, exportId: string): Promise<ExportRow> {
  const record = await findExport(executor, exportId);
  if (!record) throw new OperatorError("not-found", `There is no export ${exportId}: see drs export list.`);
  return record;
}

/** The record of an export of features. */
export type FeatureExport = Pick<
  ExportRow,
  "export_id" | "recipient" | "expires_on" | "watermark" | "is_expired" | "manifest"
> & {
  readonly purpose: string;
  readonly purpose_code: number;
  readonly features: readonly FeatureName[];
  readonly attributes: readonly ExportAttribute[];
  readonly input_states: boolean;
  readonly history_ms: number | null;
  readonly clock: ExportClock;
  readonly format: FeatureFormat;
  readonly labels_sha256: string;
};

/** @throws not-found, state-conflict for an export of raw events. */
export async function requireFeatureExport(executor: Executor, exportId: string): Promise<FeatureExport> {
  const record = await requireExport(executor, exportId);
  // guard(false): an export of raw events can't be repeated, because a new one needs a case
  if (record.kind !== "features") {
    throw new OperatorError("state-conflict", `Export ${exportId} is of raw events: run drs export raw again.`);
  }
  // A constraint of the table guarantees the other members.
  return record as FeatureExport;
}

/**
 * Writes an export again, without the rows whose values were erased after it.
 * @returns the parts of the file. @throws input-invalid if the labels are not those of the export.
 */
export async function repeatExport(
  ports: ExportPorts,
  record: FeatureExport,
  source: LabelSource,
  { reason, ...agent }: ExportAgent & { readonly reason: string },
  onRecord: OnRecord = async () => {},
): Promise<AsyncIterable<ExportPart<FeatureExportManifest>>> {
  await requireLabelsOf(record, source, ports.clock.now());
  await requireExportAttributes(ports.executor, record.purpose_code, record.attributes);
  const leftOut = await findRecalledRows(ports.executor, record.export_id);
  await inOwnerTransaction(ports.administration, async (owner) => {
    await onRecord(owner);
    const references = { export_id: record.export_id };
    const entry = { ...agent, operation: "export.repeat", outcome: "done", reason, references };
    await writeAudit(owner, ports.audit, entry);
  });
  return streamOwner(ports.administration, (owner) => partsOf(ports, owner, record, source, new Set(leftOut)));
}

/** @throws input-invalid */
export async function requireLabelsOf(record: FeatureExport, source: LabelSource, now: number): Promise<CheckedLabels> {
  const labels = await checkLabels(source, now, undefined);
  if (labels.sha256 !== record.labels_sha256) throw notTheLabels();
  return labels;
}

const notTheLabels = (): OperatorError =>
  new OperatorError("input-invalid", "The labels are not those of the export: their SHA-256 differs.");

async function* partsOf(
  ports: ExportPorts,
  owner: OwnerConnection,
  record: FeatureExport,
  source: LabelSource,
  leftOut: ReadonlySet<number>,
): AsyncGenerator<ExportPart<FeatureExportManifest>> {
  const { executor, onProgress } = ports;
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
  const batches = foundBatches(ports, record, source, { scope, leftOut });
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
    limited += batch.limited;
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
  { pseudonymizer }: ExportPorts,
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
  ports: ExportPorts,
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

interface FoundBatch {
  readonly labels: readonly NumberedLabel[];
  /** The values of the events of each label. */
  readonly found: readonly (readonly FoundValues[])[];
  /** The number of labels that have more events. */
  readonly limited: number;
  /** The number of labels, with the labels that are left out. */
  readonly size: number;
}

/** Number of batches whose values are read while earlier ones are written. */
const BATCHES_AHEAD = 2;

/** @throws input-invalid if the labels have changed in the meantime. */
async function* foundBatches(
  { executor, featureSealer: sealer }: ExportPorts,
  record: FeatureExport,
  source: LabelSource,
  { scope, leftOut }: { readonly scope: ValueScope; readonly leftOut: ReadonlySet<number> },
): AsyncGenerator<FoundBatch> {
  const find = async (batch: readonly Label[], first: number): Promise<FoundBatch> => {
    const labels = numbered(batch, first, leftOut);
    const subjects = labels.map(({ label }) => label);
    const found = await findValues({ executor, sealer }, scope, subjects);
    return {
      labels,
      found: found.map((events) => events.slice(0, MAX_EVENTS)),
      limited: found.filter((events) => events.length > MAX_EVENTS).length,
      size: batch.length,
    };
  };
  const batches = labelBatches(source, batchSizeOf(scope));
  const ahead: Promise<FoundBatch>[] = [];
  try {
    for (let first = 1; ;) {
      const batch = await batches.next();
      if (batch.done) {
        if (batch.value !== record.labels_sha256) throw notTheLabels();
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

interface NumberedLabel {
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
