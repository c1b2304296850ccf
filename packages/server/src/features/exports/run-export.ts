/** Exports of feature values for training: one row for each label, in order. */
import { randomUUID } from "node:crypto";
import type { FeatureExportManifest } from "@device-risk-signals/admin-api";
import type { AuditSigner } from "../../audit/audit-signer.ts";
import { type Agent, type AuditEntry, writeAudit } from "../../audit/audit.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import type { Clock } from "../../base/ports.ts";
import { requireExportAttributes } from "../../purposes/policy-table.ts";
import { excludeIngestion } from "../../store/events/exclude-ingestion.ts";
import { inOwnerTransaction, type OwnerDatabase, streamOwner } from "../../store/postgres/database.ts";
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { type CheckedLabels, checkLabels, type LabelSource } from "./check-labels.ts";
import type { ExportPart } from "./export-parts.ts";
import {
  type ExportOrder,
  type ExportRow,
  type FeatureExport,
  findExport,
  finishExport,
  furtherOf,
  insertExport,
} from "./export-table.ts";
import { type FilePorts, partsOf } from "./file-parts.ts";
import { notTheLabels } from "./found-batches.ts";
import { requireLabelsWithinPeriod } from "./latest-expiry.ts";
import { planOf } from "./plan-export.ts";
import { findRecalledRows } from "./recalls.ts";

export interface ExportPorts extends FilePorts {
  readonly administration: OwnerDatabase;
  readonly audit: AuditSigner;
  readonly clock: Clock;
}

/** The person who requests an export, and its approval. */
export type ExportAgent = Agent & Pick<AuditEntry, "approvalId">;

/**
 * Checks the whole order before anything is recorded or written.
 * @throws input-invalid, which reports bad labels by their line numbers, or the latest possible expiry; not-found for
 * features that the purpose does not have; state-conflict for attributes that it does not allow.
 * @param onChecked receives the number of labels that were checked so far.
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
