import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bin, type Runner } from "./run.ts";
import type { Counts } from "./suite.ts";

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  /** Files that could not be loaded: their tests are counted nowhere. */
  readonly numRuntimeErrorTestSuites: number;
}

/** Of what failed the first is worth reading; each failure prints the whole screen. */
const MOST = 20_000;

/**
 * Runs the Jest of the app in `folder`, in one process: with nothing cached two would compile everything twice.
 * @throws Error with what it said, where it could not run.
 */
export async function jestCounts(runner: Runner, folder: string): Promise<Counts & { readonly said: string }> {
  const file = join(folder, "jest.json");
  const { code, all } = await runner.run(bin("jest"), ["--runInBand", "--json", `--outputFile=${file}`]);
  if (!existsSync(file)) throw new Error(`Jest ended with ${code}:\n${all}`);
  const report = JSON.parse(readFileSync(file, "utf8")) as Report;
  const passed = report.numPassedTests;
  const told = report.numFailedTests + report.numRuntimeErrorTestSuites;
  const failed = told === 0 && (code !== 0 || passed === 0) ? 1 : told;
  return { passed, failed, skipped: report.numPendingTests + report.numTodoTests, said: all.slice(0, MOST) };
}
