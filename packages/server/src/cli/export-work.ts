/** The work of `drs export`, on the database itself. */
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Installation } from "../app/open-installation.ts";
import { writeAudit } from "../audit/audit.ts";
import { OperatorError } from "../errors/operator-error.ts";
import type { LabelSource } from "../exports/check-labels.ts";
import { hashOf, withNewFile } from "../exports/export-file.ts";
import { type ExportManifest, listExports } from "../exports/export-table.ts";
import { acknowledgeRecalls, findRecalls } from "../exports/recalls.ts";
import { type ExportPorts, prepareExport, repeatExport, requireExport, runExport } from "../exports/run-export.ts";
import { writeExclusively } from "../files/durable-file.ts";
import { plural } from "../messages/plural.ts";
import { findPurposeCode } from "../policy/policy-table.ts";
import { inOwnerTransaction } from "../postgres/database.ts";
import { withJournalApplied } from "./audit-read.ts";
import { agentOf, type Context, print, printJson, printRows, withConnection, withInstallation } from "./context.ts";
import type { AcknowledgeOptions, RepeatOptions, RunOptions, ShownOptions } from "./export.ts";

const ALL = 2_147_483_647;

export async function run(context: Context, options: RunOptions): Promise<void> {
  const { labels: labelFile, features, clock, format, recipient, reason, expires: expiresOn } = options;
  const out = await unusedFile(context, options.out);
  const source = await labelSource(context, labelFile);
  const manifest = await withReplayed(context, async (installation) => {
    const ports = portsOf(context, installation);
    const purpose = await findPurposeCode(installation.pool, options.purpose);
    if (purpose === undefined) {
      throw new OperatorError("not-found", "There is no such purpose: see drs purpose list.");
    }
    const order = { purpose, features, clock, format, recipient, reason, expiresOn };
    const labels = await prepareExport(ports, order, source);
    const written = await withNewFile(out, (sink) => runExport(ports, order, source, labels, agentOf(context), sink));
    await writeManifest(out, written);
    return written;
  });
  if (options.json) return printJson(context, manifest);
  const { export_id, file, empty_rows } = manifest;
  const empty = empty_rows === 0 ? "" : `, ${empty_rows} of them without values`;
  print(context, `Export ${export_id} is in ${out}: ${plural(file.rows, "row")}${empty}.`);
}

export async function repeat(context: Context, id: string, options: RepeatOptions): Promise<void> {
  const out = await unusedFile(context, options.out);
  const source = await labelSource(context, options.labels);
  const result = await withReplayed(context, async (installation) => {
    const ports = portsOf(context, installation);
    const record = await requireExport(installation.pool, id);
    const agent = { ...agentOf(context), reason: options.reason };
    const { manifest, leftOut } = await withNewFile(out, (sink) => repeatExport(ports, record, source, agent, sink));
    await writeManifest(out, manifest);
    return {
      export_id: id,
      same: manifest.file.sha256 === record.manifest?.file.sha256,
      sha256: manifest.file.sha256,
      rows_left_out: [...leftOut],
      empty_rows: manifest.empty_rows,
      empty_rows_before: record.manifest?.empty_rows ?? null,
    };
  });
  if (options.json) return printJson(context, result);
  if (result.same) return print(context, `The same bytes are in ${out}.`);
  print(context, `Other bytes are in ${out}.`);
  if (result.rows_left_out.length > 0)
    print(context, `Erased since, and left out: rows ${result.rows_left_out.join(", ")}.`);
  const { empty_rows: now, empty_rows_before: before } = result;
  if (before === null) print(context, "The export did not end: there is nothing to compare with.");
  else
    print(context, `Rows without values: ${now}; in the export: ${before}. Values expire, and restrictions hide them.`);
}

export function list(
  context: Context,
  { limit, json = false }: ShownOptions & { readonly limit: number },
): Promise<void> {
  return withConnection(context, "read", async ({ pool }) => {
    const exports = await listExports(pool, limit === 0 ? ALL : limit);
    const recalls = await findRecalls(pool, {});
    const rows = exports.map(
      ({ export_id, purpose, recipient, started_at, finished_at, expires_on, is_expired, ...rest }) => {
        const open = recalls.filter((one) => one.export_id === export_id && one.acknowledged_at === null);
        const shown = {
          export_id,
          started_at,
          purpose,
          recipient,
          rows: rest.manifest?.file.rows ?? null,
          expires_on,
          // The recipient of an export that did not end may have a part of it.
          state: is_expired ? "expired" : finished_at === null ? "not ended" : "handed out",
          recalled_rows: new Set(open.flatMap((one) => one.rows)).size,
        };
        const { features, clock, format, reason, started_by, label_rows, manifest } = rest;
        return json
          ? { ...shown, features, clock, format, reason, started_by, label_rows, sha256: manifest?.file.sha256 ?? null }
          : shown;
      },
    );
    printRows(context, rows, json, "No exports.");
  });
}

/** The manifest of the file names its export; the record in the database says what its bytes must be. */
export async function verify(context: Context, file: string, { json = false }: ShownOptions): Promise<void> {
  const path = resolve(context.directory, file);
  await withConnection(context, "read", async ({ pool }) => {
    const id = await exportOf(path);
    const { sha256, bytes } = await hashOf(createReadStream(path));
    const record = await requireExport(pool, id);
    const open = (await findRecalls(pool, { exportId: id })).filter(({ acknowledged_at }) => acknowledged_at === null);
    const recalled_rows = [...new Set(open.flatMap(({ rows }) => rows))].toSorted((a, b) => a - b);
    const same = record.manifest?.file.sha256 === sha256;
    if (json) printJson(context, { export_id: id, same, sha256, bytes, is_expired: record.is_expired, recalled_rows });
    // guard(false): a file that differs from its export is an error
    // fails: packages/server/src/exports/run-export.test.ts › differs
    if (!same) throw new OperatorError("input-invalid", `${path} differs from export ${id}.`);
    if (json) return;
    print(context, `${path} is export ${id}, whole: ${plural(bytes, "byte")}, for ${record.recipient}.`);
    if (record.is_expired) print(context, `It expired on ${record.expires_on}: delete it.`);
    if (recalled_rows.length > 0) print(context, `Recalled, to be deleted: rows ${recalled_rows.join(", ")}.`);
  });
}

export function recall(context: Context, id: string, { json = false }: ShownOptions): Promise<void> {
  return withInstallation(context, "read", async ({ pool, receipts }) => {
    const { manifest, recipient } = await requireExport(pool, id);
    const recalls = await findRecalls(pool, { exportId: id });
    const signer = await receipts();
    for (const { erasure_id, erased_at, rows, acknowledged_at } of recalls) {
      const named = { export_id: id, recipient, sha256: manifest?.file.sha256 ?? null, erasure_id, erased_at, rows };
      const signed = await signer.sign({ receipt: "recall", ...named });
      if (json) printJson(context, { ...named, acknowledged_at, recall: signed });
      else {
        const state = acknowledged_at === null ? "open" : `acknowledged at ${acknowledged_at}`;
        print(context, `Erasure ${erasure_id} (${state}): rows ${rows.join(", ")}`);
        print(context, signed);
      }
    }
    if (recalls.length === 0 && !json) print(context, "Nothing of this export was erased.");
  });
}

export function acknowledge(context: Context, id: string, { reason }: AcknowledgeOptions): Promise<void> {
  return withReplayed(context, async ({ pool, administration, audit }) => {
    await requireExport(pool, id);
    const acknowledged = await inOwnerTransaction(administration, async (owner) => {
      const recalls = await findRecalls(owner, { exportId: id });
      const open = recalls.filter(({ acknowledged_at }) => acknowledged_at === null);
      // guard(false): an acknowledgement is of something
      // fails: packages/server/src/exports/run-export.test.ts › is acknowledged
      if (open.length === 0) throw new OperatorError("state-conflict", `Export ${id} has no open recall.`);
      const agent = agentOf(context);
      await acknowledgeRecalls(
        owner,
        id,
        open.map(({ sequence }) => sequence),
        { actor: agent.actor, reason },
      );
      const references = { export_id: id };
      await writeAudit(owner, audit, {
        ...agent,
        operation: "export.acknowledge",
        outcome: "done",
        reason,
        references,
      });
      return open.length;
    });
    print(context, `Acknowledged: ${plural(acknowledged, "recall")}.`);
  });
}

/** Values that were erased since a backup are not exported of a restored database. */
const withReplayed = <T>(context: Context, work: (installation: Installation) => Promise<T>): Promise<T> =>
  withJournalApplied(context, work, "change");

function portsOf({ stderr, isTerminal, clock }: Context, { pool, ...installation }: Installation): ExportPorts {
  const onProgress = (rows: number): void => void (isTerminal && stderr.write(`\r${plural(rows, "row")}`));
  return { ...installation, executor: pool, clock, onProgress };
}

async function labelSource({ directory }: Context, file: string): Promise<LabelSource> {
  const path = resolve(directory, file);
  const format = /\.(?:jsonl|ndjson)$/i.test(path) ? "jsonl" : "csv";
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new OperatorError("input-invalid", `${path} can't be read`);
  return { format, open: () => createReadStream(path) };
}

const manifestOf = (path: string): string => `${path}.manifest.json`;

async function unusedFile({ directory }: Context, file: string): Promise<string> {
  const path = resolve(directory, file);
  for (const one of [path, manifestOf(path)]) {
    const found = await stat(one).catch(() => undefined);
    if (found) throw new OperatorError("output-failed", `${one} is already there: name another file`);
  }
  return path;
}

function writeManifest(out: string, manifest: ExportManifest): Promise<void> {
  return writeExclusively(manifestOf(out), Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`));
}

async function exportOf(path: string): Promise<string> {
  const text = await readFile(manifestOf(path), "utf8").catch(() => "");
  let id: unknown;
  try {
    id = (JSON.parse(text) as { readonly export_id?: unknown } | null)?.export_id;
  } catch {
    id = undefined;
  }
  if (typeof id === "string" && /^[\da-f-]{36}$/.test(id)) return id;
  throw new OperatorError("input-invalid", `${manifestOf(path)} is no manifest: without it, an export is not whole`);
}
