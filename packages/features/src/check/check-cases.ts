import { isDeepStrictEqual } from "node:util";
import type { Bundle } from "../manifest.ts";
import { isTimeLimited, type Result } from "../result.ts";
import { NotLoadable, openRunner } from "../runner/runner.ts";
import { type Case, readCase } from "./cases.ts";
import { writeResult } from "./fixtures.ts";
import { computeInQuickJs, type EngineCase } from "./quickjs.ts";

/**
 * Longer than the runner's default budget, because a machine that builds and tests is busier than one that computes
 * features.
 */
export const BUDGET_MS = 50;
/** Time limit of QuickJS, in milliseconds, for a process that does nothing else meanwhile. */
const QUICKJS_DEADLINE_MS = 60_000;

export interface FeatureCase {
  /** The index of its bundle. */
  readonly feature: number;
  /** Where the case comes from. The text of each of its problems begins with this. */
  readonly where: string;
  readonly case: Case;
}

/**
 * Computes each case on both engines and compares the results with each other and with what the case expects. V8
 * computes the cases a second time in reverse order. If a definition keeps state between events, the results can
 * differ. QuickJS computes no feature that V8 did not finish, because such a feature may never end there.
 *
 * @param quickJsMs the time limit of QuickJS.
 * @returns what is wrong. If an engine can't load a program, this is the only problem.
 */
export async function checkCases(
  bundles: readonly Bundle[],
  cases: readonly FeatureCase[],
  quickJsMs = QUICKJS_DEADLINE_MS,
): Promise<string[]> {
  if (cases.length === 0) return [];
  try {
    return await compareEngines(bundles, cases, quickJsMs);
  } catch (error) {
    // guard(false): a program that can't be loaded is a problem that the command reports
    if (error instanceof NotLoadable) return [error.message];
    throw error;
  }
}

async function compareEngines(
  bundles: readonly Bundle[],
  cases: readonly FeatureCase[],
  quickJsMs: number,
): Promise<string[]> {
  const runnable = cases.map((one) => ({
    feature: one.feature,
    read: readCase(bundles[one.feature] as Bundle, one.case),
  }));
  const [onV8, inReverse] = await computeInV8(bundles, runnable);
  const stopped = new Set(runnable.flatMap(({ feature }, at) => (isTimeLimited(onV8[at] as Result) ? [feature] : [])));
  const finished = runnable.filter(({ feature }) => !stopped.has(feature));
  const onQuickJs = new Map(
    (await computeInQuickJs(bundles, finished, quickJsMs)).map((result, at) => [finished[at], result]),
  );
  return cases.flatMap((one, at) => {
    const second = onQuickJs.get(runnable[at]);
    const problems = second
      ? caseProblems(one.case, onV8[at] as Result, inReverse[at] as Result, second)
      : ["V8 does not finish the feature in time"];
    return problems.map((problem) => `${one.where}: ${one.case.name}: ${problem}`);
  });
}

/** Computes the cases twice in one process. @returns the results of each time, both in the order of `cases` */
async function computeInV8(
  bundles: readonly Bundle[],
  cases: readonly EngineCase[],
): Promise<[first: readonly Result[], inReverse: readonly Result[]]> {
  const runner = await openRunner(bundles, { budgetMs: BUDGET_MS });
  try {
    const reads = cases.map(({ read }) => read);
    const { events } = await runner.run([...reads, ...reads.toReversed()]);
    const results = (of: typeof events): Result[] => cases.map(({ feature }, event) => of[event]?.[feature] as Result);
    return [results(events), results(events.toReversed())];
  } finally {
    await runner.close();
  }
}

function caseProblems({ expected }: Case, result: Result, inReverse: Result, onQuickJs: Result): string[] {
  if (isTimeLimited(onQuickJs)) return ["QuickJS does not finish this case, or one before it, in time"];
  const [v8Result, reverseResult, quickJsResult] = [result, inReverse, onQuickJs].map(writeResult);
  if (!isDeepStrictEqual(v8Result, quickJsResult)) {
    return [`V8 gives ${JSON.stringify(v8Result)}, QuickJS gives ${JSON.stringify(quickJsResult)}`];
  }
  if (!isDeepStrictEqual(v8Result, reverseResult) && !isTimeLimited(inReverse)) {
    return [
      `the result is ${JSON.stringify(v8Result)}, and ${JSON.stringify(reverseResult)} after other cases: the definition keeps state between events`,
    ];
  }
  if (expected === undefined) return result.state === "failed" ? [`the result is ${JSON.stringify(v8Result)}`] : [];
  if (isDeepStrictEqual(v8Result, expected)) return [];
  return [`expected ${JSON.stringify(expected)}, the result is ${JSON.stringify(v8Result)}`];
}
