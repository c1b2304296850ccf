import { createHash, type Hash } from "node:crypto";
import type { Executor } from "../../store/postgres/executor.ts";
import { findKnownAccounts } from "../../store/accounts/accounts.ts";
import { type LabelFormat, readLabels } from "./label-file.ts";
import { identityOf, type Label, labelOf } from "./labels.ts";
import { SeenLines } from "./seen-lines.ts";

/** Number of labels that are processed together. */
const BATCH_SIZE = 1_000;
/** Maximum number of problems that are shown. */
const MAX_PROBLEMS = 20;

export interface LabelSource {
  readonly format: LabelFormat;
  /** Opens the file from its start. */
  readonly open: () => AsyncIterable<Uint8Array>;
}

export interface CheckedLabels {
  readonly sha256: string;
  readonly rows: number;
  /** The first problems, each with its line number. */
  readonly problems: readonly string[];
  readonly problemCount: number;
}

interface LabelAt {
  readonly line: number;
  readonly label: Label;
}

/**
 * Reads the whole file, and reports each row that can't be exported. @param executor if it is absent, unknown accounts
 * are allowed. @param onProgress receives the number of rows that were read so far.
 */
export async function checkLabels(
  source: LabelSource,
  now: number,
  executor: Executor | undefined,
  onProgress: (rows: number) => void = () => {},
): Promise<CheckedLabels> {
  const sha256 = createHash("sha256");
  const problems: string[] = [];
  const seenLines = new SeenLines();
  let [rows, problemCount] = [0, 0];
  const report = (line: number, problem: string): void => {
    if (problemCount++ < MAX_PROBLEMS) problems.push(`line ${line}: ${problem}`);
  };
  const checkKnown = async (batch: readonly LabelAt[]): Promise<void> => {
    if (!executor) return;
    const names = batch.map(({ label }) => label.subject.account).filter((account) => account !== "");
    const known = await findKnownAccounts(executor, [...new Set(names)]);
    for (const { line, label } of batch) {
      const { account } = label.subject;
      if (account !== "" && !known.has(account)) report(line, "the account is not known");
    }
  };
  let batch: LabelAt[] = [];
  for await (const row of readLabels(source.format, hashing(source.open(), sha256))) {
    rows++;
    if (rows % BATCH_SIZE === 0) onProgress(rows);
    const result = "problem" in row ? ({ ok: false, problem: row.problem } as const) : labelOf(row.cells, now);
    if (!result.ok) {
      report(row.line, result.problem);
      continue;
    }
    const before = seenLines.see(identityOf(result.label), row.line);
    if (before !== undefined) report(row.line, `it has the same subject and time as line ${before}`);
    batch.push({ line: row.line, label: result.label });
    if (batch.length < BATCH_SIZE) continue;
    await checkKnown(batch);
    batch = [];
  }
  await checkKnown(batch);
  if (rows === 0) report(1, "there is no row");
  return { sha256: sha256.digest("hex"), rows, problems, problemCount };
}

async function* hashing(chunks: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/**
 * Reads labels in batches from a file that was checked before. Labels in the future are accepted, because the clock may
 * have been set back since the check.
 * @returns the SHA-256 of the file, which shows whether the file has changed in the meantime.
 */
export async function* labelBatches(
  source: LabelSource,
  size: number = BATCH_SIZE,
): AsyncGenerator<readonly Label[], string> {
  const sha256 = createHash("sha256");
  let batch: Label[] = [];
  for await (const row of readLabels(source.format, hashing(source.open(), sha256))) {
    const result = "problem" in row ? undefined : labelOf(row.cells, Number.POSITIVE_INFINITY);
    if (result?.ok) batch.push(result.label);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
  return sha256.digest("hex");
}
