/** Exports of feature values for training: one row for each label, in order. */
import { randomUUID } from "node:crypto";
import type { AuditSigner } from "../audit/audit-signer.ts";
import { type Agent, writeAudit } from "../audit/audit.ts";
import type { FeatureSealer } from "../crypto/feature-sealer.ts";
import type { Pseudonymizer } from "../crypto/pseudonymizer.ts";
import { OperatorError } from "../errors/operator-error.ts";
import { excludeIngestion } from "../events/exclude-ingestion.ts";
import { findBundles, type LayerRow, listLayers, nameOf } from "../features/decisions.ts";
import type { Clock } from "../ports.ts";
import { inOwnerTransaction, type OwnerDatabase, withOwner } from "../postgres/database.ts";
import type { Executor, OwnerConnection } from "../postgres/executor.ts";
import { type CheckedLabels, checkLabels, labelBatches, type LabelSource } from "./check-labels.ts";
import { type ExportSink, measuring } from "./export-file.ts";
import {
  type ExportColumn,
  type ExportedSubject,
  type ExportManifest,
  type ExportOrder,
  type ExportRecord,
  findExport,
  finishExport,
  insertExport,
  insertSubjects,
} from "./export-table.ts";
import { findValues, type FoundValues, type ValueScope } from "./find-values.ts";
import type { Label } from "./labels.ts";
import { findRecalledRows } from "./recalls.ts";
import { type Cell, createTableWriter, type ExportRow, type TableColumn } from "./table-writer.ts";

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

/** What the values of an export are read from and how they are shown. */
interface Plan {
  readonly columns: readonly (TableColumn & Omit<ExportColumn, "states">)[];
  readonly layers: readonly LayerRow[];
}

/**
 * Checks the whole order before anything is recorded or written.
 * @throws input-invalid that names bad labels by their lines, not-found for features that the purpose does not have.
 */
export async function prepareExport(
  { executor, clock }: Pick<ExportPorts, "executor" | "clock">,
  { purpose, features }: Pick<ExportOrder, "purpose" | "features">,
  source: LabelSource,
): Promise<CheckedLabels> {
  await planOf(executor, purpose, features);
  const labels = await checkLabels(source, clock.now(), executor);
  requireGood(labels);
  return labels;
}

function requireGood({ problems, problemCount }: CheckedLabels): void {
  const more = problemCount > problems.length ? [`and ${problemCount - problems.length} more`] : [];
  // guard(false): nothing is exported of a file with bad rows
  // fails: packages/server/src/exports/run-export.test.ts › names bad rows
  if (problemCount > 0) {
    throw new OperatorError("input-invalid", ["Nothing was exported. Bad labels:", ...problems, ...more].join("\n  "));
  }
}

async function planOf(executor: Executor, purpose: number, features: readonly string[]): Promise<Plan> {
  const ofPurpose = (await listLayers(executor)).filter((layer) => layer.purpose === purpose);
  const missing = features.filter((name) => !ofPurpose.some(({ members }) => members.includes(name)));
  // guard(false): a purpose never gets a feature that was adopted for another one only
  // fails: packages/server/src/exports/run-export.test.ts › of another purpose
  if (missing.length > 0) {
    throw new OperatorError(
      "not-found",
      `Never adopted for this purpose: ${missing.join(", ")}. See drs feature layers.`,
    );
  }
  const bundles = await findBundles(executor, features);
  return {
    layers: ofPurpose.filter(({ members }) => members.some((name) => features.includes(name))),
    columns: bundles.map(({ id, version, hash, manifest }) => ({
      name: `${id}__v${version}`,
      type: manifest.output.type,
      feature: nameOf({ id, version }),
      hash,
      meaning: manifest.meaning,
    })),
  };
}

/** Writes an export that `prepareExport` has checked. Its record and its audit entry exist before the first byte. */
export async function runExport(
  ports: ExportPorts,
  order: ExportOrder,
  source: LabelSource,
  labels: CheckedLabels,
  agent: Agent,
  sink: ExportSink,
): Promise<ExportManifest> {
  const exportId = randomUUID();
  await inOwnerTransaction(ports.administration, async (owner) => {
    // guard(drop): values that are being stored are not in the export, and so not in a repetition either
    // fails: packages/server/src/exports/run-export.test.ts › waits for values
    await excludeIngestion(owner);
    await insertExport(owner, exportId, order, labels, agent.actor);
    // guard(drop): the audit says what was handed out, to whom and why
    // fails: packages/server/src/exports/run-export.test.ts › in the audit
    await writeAudit(owner, ports.audit, {
      ...agent,
      operation: "export.run",
      outcome: "done",
      reason: order.reason,
      detail: { features: order.features, purpose: order.purpose, recipient: order.recipient, rows: labels.rows },
      references: { export_id: exportId },
    });
  });
  const record = await requireExport(ports.executor, exportId);
  const manifest = await withOwner(ports.administration, (owner) =>
    writeRows(ports, owner, record, source, sink, new Set()),
  );
  await inOwnerTransaction(ports.administration, (owner) => finishExport(owner, manifest));
  return manifest;
}

/** @throws not-found */
export async function requireExport(executor: Executor, exportId: string): Promise<ExportRecord> {
  const record = await findExport(executor, exportId);
  if (!record) throw new OperatorError("not-found", `There is no export ${exportId}: see drs export list.`);
  return record;
}

/**
 * Writes an export again, without the rows of what was erased since.
 * @returns the manifest of what was written, and the rows that it left out.
 * @throws input-invalid for other labels than those of the export.
 */
export async function repeatExport(
  ports: ExportPorts,
  record: ExportRecord,
  source: LabelSource,
  { reason, ...agent }: Agent & { readonly reason: string },
  sink: ExportSink,
): Promise<{ readonly manifest: ExportManifest; readonly leftOut: readonly number[] }> {
  const labels = await checkLabels(source, ports.clock.now(), undefined);
  if (labels.sha256 !== record.labels_sha256) throw notTheLabels();
  const leftOut = await findRecalledRows(ports.executor, record.export_id);
  const references = { export_id: record.export_id };
  await writeAudit(ports.executor, ports.audit, {
    ...agent,
    operation: "export.repeat",
    outcome: "done",
    reason,
    references,
  });
  const manifest = await withOwner(ports.administration, (owner) =>
    writeRows(ports, owner, record, source, sink, new Set(leftOut)),
  );
  return { manifest, leftOut };
}

const notTheLabels = (): OperatorError =>
  new OperatorError("input-invalid", "The labels are not those of the export: their SHA-256 differs.");

async function writeRows(
  ports: ExportPorts,
  owner: OwnerConnection,
  record: ExportRecord,
  source: LabelSource,
  sink: ExportSink,
  leftOut: ReadonlySet<number>,
): Promise<ExportManifest> {
  const { executor, pseudonymizer, onProgress } = ports;
  const { export_id, purpose, purpose_code, format, watermark } = record;
  const { columns, layers } = await planOf(executor, purpose_code, record.features);
  const isKnown = record.clock === "known";
  const scope: ValueScope = { purpose: purpose_code, features: record.features, layers, isKnown, watermark };
  const output = measuring(sink);
  const table = await createTableWriter(format, columns, (bytes) => output.append(bytes));
  const counts = columns.map((): Record<string, number> => ({}));
  let [row, written, empty] = [0, 0, 0];
  const batches = foundBatches(ports, record, source, { scope, leftOut });
  for await (const { labels, found, size } of oneAhead(batches)) {
    row += size;
    const rows = labels.map((one, index) => rowOf(one, found[index], columns));
    const subjects = labels.flatMap((one, index) => subjectsOf(pseudonymizer, purpose_code, one.row, found[index]));
    // guard(drop): an erasure finds whose values were written
    // fails: packages/server/src/exports/run-export.test.ts › is recalled by row numbers
    await insertSubjects(owner, export_id, subjects);
    await table.write(rows);
    for (const { cells } of rows) count(counts, cells);
    written += rows.length;
    empty += found.filter((values) => values === undefined).length;
    onProgress(row);
  }
  await table.end();
  await output.finish();
  return {
    manifest_version: 1,
    export_id,
    purpose,
    clock: record.clock,
    format,
    recipient: record.recipient,
    expires_on: record.expires_on,
    watermark,
    labels: { sha256: record.labels_sha256, rows: row },
    file: { ...output.measured(), rows: written },
    empty_rows: empty,
    columns: columns.map(({ name, feature, hash, meaning }, index) => {
      return { name, feature, hash, meaning, states: counts[index] ?? {} };
    }),
  };
}

interface FoundBatch {
  readonly labels: readonly NumberedLabel[];
  readonly found: readonly (FoundValues | undefined)[];
  /** Number of labels, omitted ones included. */
  readonly size: number;
}

/** @throws input-invalid where the labels changed meanwhile. */
async function* foundBatches(
  { executor, featureSealer: sealer, clock }: ExportPorts,
  record: ExportRecord,
  source: LabelSource,
  { scope, leftOut }: { readonly scope: ValueScope; readonly leftOut: ReadonlySet<number> },
): AsyncGenerator<FoundBatch> {
  const batches = labelBatches(source, clock.now());
  for (let first = 1; ;) {
    const batch = await batches.next();
    if (batch.done) {
      if (batch.value !== record.labels_sha256) throw notTheLabels();
      return;
    }
    const labels = numbered(batch.value, first, leftOut);
    const subjects = labels.map(({ label }) => label);
    yield { labels, found: await findValues({ executor, sealer }, scope, subjects), size: batch.value.length };
    first += batch.value.length;
  }
}

/** Begins with the next item before the current one is processed. */
async function* oneAhead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = items.next();
  try {
    for (;;) {
      const item = await next;
      if (item.done) return;
      next = items.next();
      next.catch(() => {});
      yield item.value;
    }
  } finally {
    await next.catch(() => {});
    await items.return(undefined);
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
    // fails: packages/server/src/exports/run-export.test.ts › lacks the rows
    if (leftOut.has(row)) continue;
    labels.push({ row, label });
  }
  return labels;
}

function rowOf({ row, label }: NumberedLabel, found: FoundValues | undefined, columns: Plan["columns"]): ExportRow {
  const { labelTime, label: text } = label;
  return {
    row,
    labelTime,
    label: text,
    receivedAt: found?.receivedAt ?? null,
    extractedAt: found?.extractedAt ?? null,
    cells: found?.cells ?? columns.map(() => NO_ROW),
  };
}

/** Nothing was found for the label. */
const NO_ROW: Cell = { value: null, state: "no-row" };

function count(counts: readonly Record<string, number>[], cells: readonly Cell[]): void {
  for (const [index, { state }] of cells.entries()) {
    const of = counts[index];
    if (of) of[state] = (of[state] ?? 0) + 1;
  }
}

/** What an erasure may name that the row has values of. */
function subjectsOf(
  pseudonymizer: Pseudonymizer,
  purpose: number,
  row: number,
  found: FoundValues | undefined,
): readonly ExportedSubject[] {
  if (!found) return [];
  const { account, actionId, eventId } = found;
  const macs = [
    pseudonymizer.subjectOf("account", account),
    pseudonymizer.subjectOf("purpose", account, String(purpose)),
    pseudonymizer.subjectOf("action", actionId),
    pseudonymizer.subjectOf("event", eventId),
  ];
  return macs.map((mac) => ({ row, mac }));
}
