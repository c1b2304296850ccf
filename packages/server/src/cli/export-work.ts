/** The work of `drs export`. */
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  type Answer,
  type ExportAttribute,
  type ExportManifest,
  type FilePart,
  type Input,
  MAX_LABELS_BYTES,
} from "@device-risk-signals/admin-api";
import type { Installation } from "../runtime/open-installation.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { LabelSource } from "../features/exports/check-labels.ts";
import type { ExportClock, FeatureFormat } from "../features/exports/export-table.ts";
import { draftExists, draftOf, hashOf, manifestPathOf, writeExport } from "../features/exports/export-file.ts";
import type { ExportPart } from "../features/exports/export-parts.ts";
import {
  beginExport,
  type ExportPorts,
  prepareExport,
  repeatExport,
  requireFeatureExport,
} from "../features/exports/run-export.ts";
import { portsOn, requireReplayedJournal } from "../operations/ports.ts";
import { plural } from "../base/messages/plural.ts";
import { requirePurposeCode } from "../purposes/policy-table.ts";
import type { BreakGlassOptions } from "./break-glass.ts";
import { type Call, call as callOne, withCalls } from "./call.ts";
import { withConnection } from "./connection.ts";
import { escapeControls } from "../base/messages/escape-controls.ts";
import { printRows } from "./table.ts";
import { agentOf, type Context, print, printJson } from "./context.ts";
import { requireWritable } from "./export-folder.ts";
import { findLogin } from "./login.ts";

export interface PlanOptions {
  readonly labels: string;
  readonly features: readonly string[];
  readonly purpose: string;
  readonly clock: ExportClock;
  readonly with?: readonly ExportAttribute[];
  /** Milliseconds. */
  readonly allEvents?: number;
  readonly expires: string;
  readonly json?: boolean;
}

export interface RunOptions extends PlanOptions {
  readonly format: FeatureFormat;
  readonly states?: boolean;
  readonly recipient: string;
  readonly reason: string;
  readonly out: string;
}

export interface RawOptions extends BreakGlassOptions {
  readonly case: string;
  readonly account?: string;
  readonly action?: string;
  /** An action type. */
  readonly type?: string;
  readonly event?: readonly string[];
  readonly from?: number;
  readonly to?: number;
  readonly recipient: string;
  readonly expires: string;
  readonly out: string;
  readonly json?: boolean;
}

export interface RepeatOptions {
  readonly labels: string;
  readonly out: string;
  readonly reason: string;
  readonly json?: boolean;
}

export interface ShownOptions {
  readonly json?: boolean;
}

export interface AcknowledgeOptions {
  readonly reason: string;
}

export async function plan(context: Context, options: PlanOptions): Promise<void> {
  const { features, purpose, clock, expires, with: attributes = [], allEvents } = options;
  const content = {
    labels: await textOf(await labelFile(context, options.labels)),
    features: [...features],
    purpose,
    clock,
    attributes: [...attributes],
    ...(allEvents !== undefined && { history_ms: allEvents }),
    expires_on: expires,
  };
  const work = (call: Call): Promise<Answer<"planExport">> => call("planExport", content);
  const planned = await withCalls(context, "audited-read", work, reportOnTerminal(context));
  if (options.json) return printJson(context, planned);
  const { labels, rows, empty_rows, columns } = planned;
  const counted = `rows: ${rows ?? "not shown"}; accounts without values: ${empty_rows ?? "under 10"}`;
  print(context, `${plural(labels, "label")}, ${counted}. Accounts by state:`);
  const accounts = columns.map(({ feature, states }) => ({ feature, ...states }));
  printRows(context, accounts, "No features.");
}

export async function run(context: Context, options: RunOptions): Promise<void> {
  const {
    features,
    purpose,
    clock,
    format,
    recipient,
    reason,
    expires: expiresOn,
    with: attributes = [],
    states = false,
    allEvents,
  } = options;
  const out = await unusedFile(context, options.out);
  const labels = await labelFile(context, options.labels);
  const order = { features: [...features], attributes: [...attributes], purpose, clock, format, recipient, reason };
  const manifest = findLogin(context)
    ? await writeAnswer(context, out, async (call) =>
        call("exportFeatures", {
          ...order,
          input_states: states,
          ...(allEvents !== undefined && { history_ms: allEvents }),
          expires_on: expiresOn,
          labels: await textOf(labels),
        }),
      )
    : await withReplayed(context, async (installation) => {
        const ports = portsOf(context, installation);
        const code = await requirePurposeCode(installation.pool, purpose);
        const wanted = { ...order, purpose: code, inputStates: states, historyMs: allEvents ?? null, expiresOn };
        const checked = await prepareExport(ports, wanted, labels, showProgress(context, "checked"));
        return writeExport(out, await beginExport(ports, wanted, labels, checked, agentOf(context)));
      });
  if (options.json) return printJson(context, manifest);
  const { export_id, file, empty_rows, history } = manifest;
  const empty = empty_rows === 0 ? "" : `, ${empty_rows} of them without values`;
  print(context, `Export ${export_id} is in ${out}: ${plural(file.rows, "row")}${empty}.`);
  if (!history || history.limited_labels === 0) return;
  const labelsWithMore = plural(history.limited_labels, "label");
  print(context, `Of ${labelsWithMore} with more events, it has the newest ${history.max_events} events each.`);
}

export async function raw(context: Context, options: RawOptions): Promise<void> {
  const { case: case_id, account, action, type, event, from, to, recipient, expires } = options;
  const out = await unusedFile(context, options.out);
  const request = {
    case_id,
    recipient,
    expires_on: expires,
    ...(account !== undefined && { account }),
    ...(action !== undefined && { action_id: action }),
    ...(type !== undefined && { action_type: type }),
    ...(event && { event_ids: [...event] }),
    ...(from !== undefined && { from: new Date(from).toISOString() }),
    ...(to !== undefined && { to: new Date(to).toISOString() }),
  };
  const manifest = await writeAnswer(context, out, (call) => call("exportEvents", request));
  if (options.json) return printJson(context, manifest);
  const { export_id, file, unreadable } = manifest;
  const without = unreadable === 0 ? "" : `, ${unreadable} of them unreadable`;
  print(context, `Export ${export_id} is in ${out}: ${plural(file.rows, "event")}${without}.`);
}

export async function repeat(context: Context, id: string, options: RepeatOptions): Promise<void> {
  const { reason } = options;
  const out = await unusedFile(context, options.out);
  const labels = await labelFile(context, options.labels);
  let before: Answer<"readExport"> | undefined;
  const manifest = findLogin(context)
    ? await writeAnswer(context, out, async (call) => {
        before = await call("readExport", { export_id: id });
        return call("repeatExport", { export_id: id, reason, labels: await textOf(labels) });
      })
    : await withReplayed(context, async (installation) => {
        const record = await requireFeatureExport(installation.pool, id);
        const agent = { ...agentOf(context), reason };
        return writeExport(out, await repeatExport(portsOf(context, installation), record, labels, agent));
      });
  before ??= await callOne(context, "readExport", { export_id: id });
  const result = {
    export_id: id,
    same: manifest.file.sha256 === before.record.sha256,
    sha256: manifest.file.sha256,
    rows_left_out: before.erased,
    empty_rows: manifest.empty_rows,
    empty_rows_before: before.empty_rows,
  };
  if (options.json) return printJson(context, result);
  if (result.same) return print(context, `The same bytes are in ${out}.`);
  print(context, `Other bytes are in ${out}.`);
  if (result.rows_left_out.length > 0) print(context, `Erased since, and left out: ${rowsWith(result.rows_left_out)}.`);
  const { empty_rows: now, empty_rows_before: then } = result;
  if (then === null) print(context, "The export did not end: there is nothing to compare with.");
  else
    print(
      context,
      `Rows without values: ${now}; in the original export: ${then}. Values expire, and restrictions hide them.`,
    );
}

/**
 * Checks the bytes of an exported file. The manifest next to the file names the export, and the database has recorded
 * the hash of that export's bytes.
 */
export async function verify(context: Context, file: string, { json = false }: ShownOptions): Promise<void> {
  const path = resolve(context.directory, file);
  await withCalls(context, "read", async (call) => {
    const id = await exportIdOf(path);
    const { sha256, bytes } = await hashOf(createReadStream(path));
    const { record, is_expired, recalled } = await call("readExport", { export_id: id });
    const same = record.sha256 === sha256;
    if (json) printJson(context, { export_id: id, same, sha256, bytes, is_expired, recalled_rows: recalled });
    // guard(false): a file that differs from its export is an error
    if (!same) throw new OperatorError("input-invalid", `${path} differs from export ${id}.`);
    if (json) return;
    print(context, `${path} is export ${id}, whole: ${plural(bytes, "byte")}, for ${record.recipient}.`);
    if (is_expired) print(context, `It expired on ${record.expires_on}: delete it.`);
    if (recalled.length > 0) print(context, `Recalled: delete ${rowsWith(recalled)}.`);
  });
}

/** A number is no place in the file: a label can have many rows, and a repetition leaves some out. */
const rowsWith = (rows: readonly number[]): string => `all rows with ${rows.join(", ")} in the column "row"`;

export async function recall(context: Context, id: string, { json = false }: ShownOptions): Promise<void> {
  const { recalls } = await callOne(context, "readRecalls", { export_id: id });
  for (const { recall: signed, acknowledged_at, ...named } of recalls) {
    if (json) {
      printJson(context, { ...named, acknowledged_at, recall: signed });
      continue;
    }
    const state = acknowledged_at === null ? "open" : `acknowledged at ${acknowledged_at}`;
    const why =
      named.period_ended_at === null ? `Erasure ${named.erasure_id}` : `Period over at ${named.period_ended_at}`;
    print(context, `${why} (${state}): ${rowsWith(named.rows)}`);
    print(context, signed);
  }
  if (recalls.length === 0 && !json) print(context, "Nothing of this export is recalled.");
}

export async function acknowledge(context: Context, id: string, { reason }: AcknowledgeOptions): Promise<void> {
  const { acknowledged } = await callOne(context, "acknowledgeRecalls", { export_id: id, reason });
  print(context, `Acknowledged: ${plural(acknowledged, "recall")}.`);
}

/** Runs the work of an export only if the database has applied every entry of the journal. */
const withReplayed = <T>(context: Context, work: (installation: ExportParts) => Promise<T>): Promise<T> =>
  withConnection(context, "change", async (connection) => work(await requireReplayedJournal(portsOn(connection))));

/** Writes the file that an operation of the admin API returns. */
const writeAnswer = <Manifest extends ExportManifest>(
  context: Context,
  out: string,
  ask: (call: Call) => Promise<AsyncIterable<FilePart<Manifest>>>,
): Promise<Manifest> =>
  withCalls(context, "change", async (call) => writeExport(out, partsOf(await ask(call))), reportOnTerminal(context));

/** Shows progress in the last line of a terminal; what is printed next replaces it. */
const reportOnTerminal =
  ({ stderr, isTerminal }: Pick<Context, "stderr" | "isTerminal">) =>
  (line: string): void =>
    void (isTerminal && stderr.write(`\r\u001b[K${escapeControls(line)}\r`));

async function* partsOf<Manifest extends ExportManifest>(
  lines: AsyncIterable<FilePart<Manifest>>,
): AsyncGenerator<ExportPart<Manifest>> {
  for await (const line of lines) {
    yield "manifest" in line ? line : { bytes: Buffer.from(line.base64, "base64") };
  }
}

type ExportParts = Pick<Installation, "administration" | "audit" | "featureSealer" | "pool" | "pseudonymizer">;

function portsOf(context: Context, { pool, ...installation }: ExportParts): ExportPorts {
  return { ...installation, executor: pool, clock: context.clock, onProgress: showProgress(context, "written") };
}

const showProgress = (context: Context, what: string): ((labels: number) => void) => {
  const report = reportOnTerminal(context);
  return (labels) => report(`${plural(labels, "label")} ${what}`);
};

interface LabelFile extends LabelSource {
  readonly path: string;
  readonly bytes: number;
}

async function labelFile({ directory }: Context, file: string): Promise<LabelFile> {
  const path = resolve(directory, file);
  const format = /\.(?:jsonl|ndjson)$/i.test(path) ? "jsonl" : "csv";
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new OperatorError("input-invalid", `${path} can't be read`);
  return { path, bytes: found.size, format, open: () => createReadStream(path) };
}

/** Reads the labels as a text, which the admin API takes in place of a file. @throws input-invalid */
async function textOf({ path, bytes, format }: LabelFile): Promise<Input<"exportFeatures">["labels"]> {
  if (bytes > MAX_LABELS_BYTES) {
    const message = `${path} has more than ${MAX_LABELS_BYTES} bytes: the admin API takes no more; use drs export run on the database`;
    throw new OperatorError("input-invalid", message);
  }
  try {
    return { format, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path)) };
  } catch (cause) {
    throw new OperatorError("input-invalid", `${path} is not UTF-8`, { cause });
  }
}

async function unusedFile({ directory }: Context, file: string): Promise<string> {
  const path = resolve(directory, file);
  const manifest = manifestPathOf(path);
  await requireWritable(dirname(path));
  // These paths are checked here, because an export is recorded and uses its approval before its file is opened.
  for (const one of [path, manifest]) {
    if (await isThere(one)) throw new OperatorError("output-failed", `${one} is already there: name another file`);
    if (await isThere(draftOf(one))) throw draftExists(draftOf(one));
  }
  return path;
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function exportIdOf(path: string): Promise<string> {
  const text = await readFile(manifestPathOf(path), "utf8").catch(() => "");
  let id: unknown;
  try {
    id = (JSON.parse(text) as { readonly export_id?: unknown } | null)?.export_id;
  } catch {
    id = undefined;
  }
  if (typeof id === "string" && /^[\da-f-]{36}$/.test(id)) return id;
  throw new OperatorError(
    "input-invalid",
    `${manifestPathOf(path)} is no manifest: without it, an export is not whole`,
  );
}
