import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { buildFeatures, type BuiltFeature } from "../compile/build-features.ts";
import { lockProblems, LOCK_FILE, readLockFile } from "../compile/lock.ts";
import { OVERLAY_TYPES, overlayTypes, readOverlay } from "../compile/overlay.ts";
import type { Bundle } from "../manifest.ts";
import type { Result } from "../result.ts";
import { openRunner } from "../runner/runner.ts";
import { type Case, casesOf, gapsOf, readCase } from "./cases.ts";
import { readFixtures, writeResult } from "./fixtures.ts";
import { computeInQuickJs, type EngineCase } from "./quickjs.ts";

export interface CheckReport {
  readonly features: number;
  /** Results that were computed on each engine. */
  readonly cases: number;
  /** Empty if the definitions may be proposed. */
  readonly problems: readonly string[];
}

export interface CheckOptions {
  /** The path of the lock file that the folder's own follows. */
  readonly base?: string;
}

/** A machine that builds and tests is busier than one that computes features only. */
const BUDGET_MS = 50;
const QUICKJS_DEADLINE_MS = 60_000;

/**
 * Checks the definitions below a folder: builds and lints them, compares them with the lock file and the overlay, and
 * computes their fixtures on two engines.
 */
export async function checkFeatures(folder: string, { base }: CheckOptions = {}): Promise<CheckReport> {
  const read = readOverlay(folder);
  if (!read.ok) return { features: 0, cases: 0, problems: read.problems };
  const { features, problems } = await buildFeatures(folder, read.overlay);
  const bundles = features.map(({ bundle }) => bundle);
  const all = [
    ...problems,
    ...lockFileProblems(folder, bundles, base),
    ...typesProblems(folder, overlayTypes(read.overlay), read.overlay.fields.length > 0),
  ];
  const prepared = features.map(prepare);
  all.push(...prepared.flatMap((feature) => feature.problems));
  const cases = prepared.flatMap((feature) => feature.cases);
  const results = cases.length > 0 ? await checkCases(bundles, cases) : [];
  return { features: features.length, cases: cases.length, problems: [...all, ...results] };
}

function lockFileProblems(folder: string, bundles: readonly Bundle[], base: string | undefined): readonly string[] {
  const own = readLockFile(join(folder, LOCK_FILE));
  const earlier = base === undefined ? undefined : readLockFile(base);
  if (!own.ok) return [own.problem];
  if (earlier && !earlier.ok) return [earlier.problem];
  return lockProblems(own.locked, bundles, earlier?.locked);
}

function typesProblems(folder: string, wanted: string, isNeeded: boolean): string[] {
  if (!isNeeded) return [];
  let found = "";
  try {
    found = readFileSync(join(folder, OVERLAY_TYPES), "utf8");
  } catch {
    // A missing file differs from what is wanted, too.
  }
  return found === wanted ? [] : [`${OVERLAY_TYPES} is not of the overlay: run \`drs feature lock\``];
}

interface FeatureCase {
  readonly feature: number;
  readonly file: string;
  readonly bundle: Bundle;
  readonly case: Case;
}

function prepare(
  { bundle, file, fixtures }: BuiltFeature,
  feature: number,
): { cases: FeatureCase[]; problems: string[] } {
  const read = readFixtures(fixtures, bundle.manifest);
  const inFile = (problem: string): string => `${file}: ${problem}`;
  if (!read.ok) return { cases: [], problems: read.problems.map(inFile) };
  const cases = casesOf(bundle, read.cases).map((one) => ({ feature, file, bundle, case: one }));
  return { cases, problems: gapsOf(bundle, read.cases).map(inFile) };
}

/** Computes each case on both engines and compares the results with each other and with what the case expects. */
async function checkCases(bundles: readonly Bundle[], cases: readonly FeatureCase[]): Promise<string[]> {
  const runnable = cases.map((one) => ({ feature: one.feature, read: readCase(one.bundle, one.case) }));
  const onV8 = await computeInV8(bundles, runnable);
  const onQuickJs = await computeInQuickJs(bundles, runnable, QUICKJS_DEADLINE_MS);
  return cases.flatMap((one, at) =>
    caseProblems(one.case, onV8[at] as Result, onQuickJs[at] as Result).map(
      (problem) => `${one.file}: ${one.case.name}: ${problem}`,
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
