/** Exports of features for training, and recalls of exported rows. */
import type { Answer, ExportManifest, ExportRecord, Input } from "@device-risk-signals/admin-api";
import type { Installation } from "../runtime/open-installation.ts";
import type { LabelSource } from "../features/exports/check-labels.ts";
import { acknowledgeOpenRecalls } from "../features/exports/acknowledge-recalls.ts";
import { countExport } from "../features/exports/count-export.ts";
import type { ExportPart } from "../features/exports/export-parts.ts";
import { MAX_EVENTS } from "../features/exports/find-values.ts";
import { type ExportRow, furtherOf, listExports as queryExports } from "../features/exports/export-table.ts";
import { countRecalledRows, findRecalls, isOpen, rowsOf } from "../features/exports/recalls.ts";
import {
  beginExport,
  type ExportPorts,
  prepareExport,
  repeatExport as repeat,
  requireExport,
  requireFeatureExport,
  requireLabelsOf,
} from "../features/exports/run-export.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import { plural } from "../base/messages/plural.ts";
import { requirePurposeCode } from "../purposes/policy-table.ts";
import { type Approval, type ApprovalPorts, requireApproval } from "./approvals.ts";
import { type AuditPorts, auditBegun } from "./audit-around.ts";
import { reasonOf, requireFuture, trimmedTextOf } from "./input.ts";
import { nextOf, pageOf } from "./list-page.ts";
import type { Operation } from "./operation.ts";
import { type Ports, type ReplayedPorts, requireReplayedJournal } from "./ports.ts";

type ExportParts = Pick<Installation, "audit" | "featureSealer" | "pool" | "pseudonymizer">;

type FeatureExportPorts =
  | "administration"
  | "report"
  | `installation.${keyof ExportParts}`
  | ApprovalPorts
  | ReplayedPorts;

export const planExport: Operation<
  "planExport",
  "clock" | "installation.featureSealer" | "installation.pool" | "report" | AuditPorts | ReplayedPorts
> = async (call) => {
  const { ports, input } = call;
  const { features, purpose: id, clock, attributes = [], history_ms: historyMs = null, expires_on: expiresOn } = input;
  requireFuture("body/expires_on", expiresOn, ports.clock);
  const { pool: executor, featureSealer: sealer } = await requireReplayedJournal(ports);
  const purpose = await requirePurposeCode(ports.pool, id);
  const order = { purpose, features, clock, attributes, historyMs, expiresOn };
  const source = sourceOf(input.labels);
  const labels = await prepareExport({ executor, clock: ports.clock }, order, source);
  const asked = { features, purpose: id, clock, ...(historyMs !== null && { history_ms: historyMs }) };
  const audit = { detail: { ...asked, labels: labels.sha256, rows: labels.rows } };
  await auditBegun(call, "planExport", audit);
  const counts = await countExport({ executor, sealer, onProgress: reportLabels(ports) }, order, source, labels);
  return { answer: { labels: labels.rows, ...counts }, audit };
};

export const exportFeatures: Operation<"exportFeatures", FeatureExportPorts> = async ({ ports, caller, input }) => {
  const { features, purpose: id, clock, format, expires_on: expiresOn } = input;
  const { attributes = [], input_states: inputStates = false, history_ms: historyMs = null } = input;
  const reason = reasonOf(input.reason, ports.config);
  const recipient = trimmedTextOf("body/recipient", input.recipient);
  requireFuture("body/expires_on", expiresOn, ports.clock);
  const exporting = portsOf(ports, await requireReplayedJournal(ports));
  const purpose = await requirePurposeCode(ports.pool, id);
  const content = { purpose, features, clock, format, attributes, inputStates, historyMs };
  const order = { ...content, recipient, reason, expiresOn };
  const source = sourceOf(input.labels);
  const labels = await prepareExport(exporting, order, source);
  const { sha256, rows } = labels;
  const named = { features, purpose: id, clock, format, recipient, expires_on: expiresOn, labels: sha256, reason };
  const parameters = { ...named, ...furtherOf(order) };
  const plan = planOf(rows, historyMs);
  const approval = await approvalOf(ports, caller, { operation: "export.run", parameters, plan, reason });
  const parts = await beginExport(exporting, order, source, labels, agentWith(caller, approval), async (owner) =>
    approval?.use(owner, 0),
  );
  return { answer: linesOf(parts) };
};

export const repeatExport: Operation<"repeatExport", FeatureExportPorts> = async ({ ports, caller, input }) => {
  const { export_id } = input;
  const reason = reasonOf(input.reason, ports.config);
  const exporting = portsOf(ports, await requireReplayedJournal(ports));
  const record = await requireFeatureExport(ports.pool, export_id);
  const source = sourceOf(input.labels);
  const { rows } = await requireLabelsOf(record, source, ports.clock.now());
  const parameters = { export_id, reason };
  const plan = planOf(rows, record.history_ms);
  const approval = await approvalOf(ports, caller, { operation: "export.repeat", parameters, plan, reason });
  const agent = { ...agentWith(caller, approval), reason };
  const parts = await repeat(exporting, record, source, agent, async (owner) => approval?.use(owner, 0));
  return { answer: linesOf(parts) };
};

interface Asked {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly plan: ReturnType<typeof planOf>;
  readonly reason: string;
}

/** How much is exported, as the second person sees it: with a history, a label has many rows. */
const planOf = (labels: number, historyMs: number | null) =>
  historyMs === null ? { rows: labels } : { labels, rows_at_most: labels * MAX_EVENTS };

/** Requires an approval by a second person with the role privacy, who sees what is exported, and to whom. */
function approvalOf(
  ports: Ports<ApprovalPorts>,
  caller: Caller,
  { operation, parameters, plan, reason }: Asked,
): Promise<Approval | undefined> {
  const asked = { operation, parameters, plan, events: 0, needed: ["privacy"] } as const;
  // guard(drop): an export of feature values needs an approval
  return requireApproval(ports, caller, asked, reason);
}

const agentWith = (caller: Caller, approval: Approval | undefined) => ({
  ...agentOf(caller),
  ...(approval && { approvalId: approval.id }),
});

/** A worker applies these exports, because only its login may read the values of many events at once. */
const portsOf = (
  ports: Ports<"administration" | "clock" | "report">,
  { pool, audit, featureSealer, pseudonymizer }: ExportParts,
): ExportPorts => ({
  executor: pool,
  administration: ports.administration,
  audit,
  featureSealer,
  pseudonymizer,
  clock: ports.clock,
  onProgress: reportLabels(ports),
});

const reportLabels =
  ({ report }: Ports<"report">) =>
  (labels: number): void =>
    report(plural(labels, "label"));

const sourceOf = ({ format, text }: Input<"exportFeatures">["labels"]): LabelSource => ({
  format,
  async *open() {
    yield Buffer.from(text);
  },
});

/** Yields the parts of an export as lines of an answer. */
export async function* linesOf<Manifest extends ExportManifest>(
  parts: AsyncIterable<ExportPart<Manifest>>,
): AsyncGenerator<{ base64: string } | { manifest: Manifest }> {
  for await (const part of parts) {
    yield "bytes" in part ? { base64: Buffer.from(part.bytes).toString("base64") } : part;
  }
}

export const listExports: Operation<"listExports", "pool"> = async ({ ports: { pool }, input }) => {
  const page = pageOf(input);
  const rows = await queryExports(pool, page);
  const recalled = await countRecalledRows(
    pool,
    rows.map(({ export_id }) => export_id),
  );
  const next = nextOf(rows, page, ({ started_at, export_id }) => [started_at, export_id]);
  return {
    answer: { exports: rows.map((row) => shown(row, recalled.get(row.export_id) ?? 0)), next },
    audit: { detail: { count: rows.length } },
  };
};

export const readExport: Operation<"readExport", "pool"> = async ({ ports: { pool }, input: { export_id } }) => {
  const record = await requireExport(pool, export_id);
  const recalls = await findRecalls(pool, { exportId: record.export_id });
  const recalled = [...rowsOf(recalls.filter(isOpen))];
  const { is_expired, manifest } = record;
  const empty_rows = manifest?.kind === "features" ? manifest.empty_rows : null;
  return {
    answer: {
      record: shown(record, recalled.length),
      is_expired,
      empty_rows,
      recalled,
      erased: [...rowsOf(recalls.filter(({ erasure_id }) => erasure_id !== null))],
    },
    audit: { detail: { export_id } },
  };
};

function shown(row: ExportRow, recalledRows: number): ExportRecord {
  const {
    export_id,
    kind,
    started_at,
    purpose,
    recipient,
    expires_on,
    features,
    attributes,
    input_states,
    history_ms,
    clock,
    format,
  } = row;
  const { reason, case_id, started_by, label_rows, is_expired, finished_at, manifest } = row;
  const named = {
    export_id,
    kind,
    started_at,
    purpose,
    recipient,
    expires_on,
    features,
    attributes,
    input_states,
    history_ms,
    clock,
    format,
  };
  return {
    ...named,
    reason,
    case_id,
    started_by,
    label_rows,
    rows: manifest?.file.rows ?? null,
    // The recipient of an export that was interrupted may have a part of it.
    state: is_expired ? "expired" : finished_at === null ? "not ended" : "handed out",
    recalled_rows: recalledRows,
    sha256: manifest?.file.sha256 ?? null,
  };
}

export const readRecalls: Operation<"readRecalls", "keys.receipts" | "pool"> = async ({ ports, input }) => {
  const { export_id } = input;
  const { manifest, recipient } = await requireExport(ports.pool, export_id);
  const signer = await (await ports.keys()).receipts();
  const sha256 = manifest?.file.sha256 ?? null;
  const recalls: Answer<"readRecalls">["recalls"] = [];
  for (const { erasure_id, erased_at, period_ended_at, rows, acknowledged_at } of await findRecalls(ports.pool, {
    exportId: export_id,
  })) {
    const named = { export_id, recipient, sha256, erasure_id, erased_at, period_ended_at, rows };
    recalls.push({ ...named, acknowledged_at, recall: await signer.sign({ receipt: "recall", ...named }) });
  }
  return { answer: { recalls }, audit: { detail: { export_id, count: recalls.length } } };
};

export const acknowledgeRecalls: Operation<
  "acknowledgeRecalls",
  "config" | "installation.administration" | "installation.audit" | ReplayedPorts
> = async ({ ports, caller, input }) => {
  const reason = reasonOf(input.reason, ports.config);
  const { audit, administration } = await requireReplayedJournal(ports);
  const { export_id } = await requireExport(ports.pool, input.export_id);
  const agent = { ...agentOf(caller), reason };
  return { answer: { acknowledged: await acknowledgeOpenRecalls({ administration, audit }, export_id, agent) } };
};
