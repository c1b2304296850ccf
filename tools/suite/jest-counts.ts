import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bin, type Done, type ProgramRunner } from "./run.ts";
import type { Counts } from "./suite.ts";

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  /** Number of files that could not be loaded. Their tests are counted nowhere. Vitest has no such member. */
  readonly numRuntimeErrorTestSuites?: number;
}

/**
 * Maximum length of the failures that are shown. The first failure is the most useful one, and each prints the whole
 * screen.
 */
const MAX_CHARACTERS = 20_000;

/**
 * Runs the Jest of the app in `folder`, in one process, because two processes with an empty cache would compile
 * everything twice.
 * @throws Error with its output, if it could not run.
 */
export async function jestCounts(runner: ProgramRunner, folder: string): Promise<Counts & { readonly said: string }> {
  const file = join(folder, "jest.json");
  return countsOf(await runner.run(bin("jest"), ["--runInBand", "--json", `--outputFile=${file}`]), file);
}

/**
 * The counts in the JSON report of Jest or Vitest.
 * @throws Error with the runner's output, if it wrote no report.
 */
export function countsOf({ code, all }: Done, file: string): Counts & { readonly said: string } {
  if (!existsSync(file)) throw new Error(`the tests ended with ${code}:\n${all}`);
  const report = JSON.parse(readFileSync(file, "utf8")) as Report;
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  const reported = report.numFailedTests + (report.numRuntimeErrorTestSuites ?? 0);
  const failed = reported === 0 && (code !== 0 || passed + skipped === 0) ? 1 : reported;
  return { passed, failed, skipped, said: all.slice(0, MAX_CHARACTERS) };
}
