import { isDeepStrictEqual } from "node:util";
import type { Bundle } from "../manifest.ts";
import type { Result } from "../result.ts";
import { openRunner } from "../runner/runner.ts";
import { type Case, readCase } from "./cases.ts";
import { writeResult } from "./fixtures.ts";
import { computeInQuickJs, type EngineCase } from "./quickjs.ts";

/** More than a runner's default, because a machine that builds and tests is busier than one that computes features. */
const BUDGET_MS = 50;
const QUICKJS_DEADLINE_MS = 60_000;

export interface FeatureCase {
  /** The index of its bundle. */
  readonly feature: number;
  /** The first part of the text of each problem of the case. */
  readonly where: string;
  readonly case: Case;
}

/** Computes each case on both engines and compares the results with each other and with what the case expects. */
export async function checkCases(bundles: readonly Bundle[], cases: readonly FeatureCase[]): Promise<string[]> {
  if (cases.length === 0) return [];
  const runnable = cases.map((one) => ({
    feature: one.feature,
    read: readCase(bundles[one.feature] as Bundle, one.case),
  }));
  const onV8 = await computeInV8(bundles, runnable);
  const onQuickJs = await computeInQuickJs(bundles, runnable, QUICKJS_DEADLINE_MS);
  return cases.flatMap((one, at) =>
    caseProblems(one.case, onV8[at] as Result, onQuickJs[at] as Result).map(
      (problem) => `${one.where}: ${one.case.name}: ${problem}`,
    ),
  );
}

async function computeInV8(bundles: readonly Bundle[], cases: readonly EngineCase[]): Promise<readonly Result[]> {
  const runner = await openRunner(bundles, { budgetMs: BUDGET_MS });
  try {
    const { events } = await runner.run(cases.map(({ read }) => read));
    return cases.map(({ feature }, event) => events[event]?.[feature] as Result);
  } finally {
    await runner.close();
  }
}

function caseProblems({ expected }: Case, result: Result, other: Result): string[] {
  const found = writeResult(result);
  const second = writeResult(other);
  if (!isDeepStrictEqual(found, second)) {
    return [`V8 gives ${JSON.stringify(found)}, QuickJS gives ${JSON.stringify(second)}`];
  }
  if (expected === undefined) return result.state === "failed" ? [`the result is ${JSON.stringify(found)}`] : [];
  if (isDeepStrictEqual(found, expected)) return [];
  return [`expected ${JSON.stringify(expected)}, the result is ${JSON.stringify(found)}`];
}
