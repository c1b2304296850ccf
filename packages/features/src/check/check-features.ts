import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildFeatures, type BuiltFeature } from "../compile/build-features.ts";
import { lockFileProblems } from "../compile/lock.ts";
import { OVERLAY_TYPES, overlayTypes, readOverlay } from "../compile/overlay.ts";
import { casesOf, gapsOf } from "./cases.ts";
import { checkCases, type FeatureCase } from "./check-cases.ts";
import { readFixtures } from "./fixtures.ts";
import { checkWorstCases } from "./worst-cases.ts";

export interface CheckReport {
  readonly features: number;
  /** Number of cases that each engine computed. */
  readonly cases: number;
  /** Empty if the definitions may be proposed. */
  readonly problems: readonly string[];
}

export interface CheckOptions {
  /**
   * The path of an earlier lock file, such as the one of the target branch. The lock file of the folder must still have
   * the entries of the earlier one.
   */
  readonly base?: string;
}

/**
 * Checks the definitions below a folder: builds and lints them, compares them with the lock file and the overlay,
 * compares `overlay.d.ts` with the overlay, checks what the fixtures cover, computes them on two engines, and computes the
 * longest values that an event can have.
 */
export async function checkFeatures(folder: string, { base }: CheckOptions = {}): Promise<CheckReport> {
  const read = readOverlay(folder);
  if (!read.ok) return { features: 0, cases: 0, problems: read.problems };
  const { features, problems } = await buildFeatures(folder, read.overlay);
  const bundles = features.map(({ bundle }) => bundle);
  const allProblems = [
    ...problems,
    ...lockFileProblems(folder, bundles, base),
    ...typesProblems(folder, overlayTypes(read.overlay), read.overlay.fields.length > 0),
  ];
  const prepared = features.map(prepare);
  allProblems.push(...prepared.flatMap((feature) => feature.problems));
  const cases = prepared.flatMap((feature) => feature.cases);
  allProblems.push(...(await checkCases(bundles, cases)), ...(await checkWorstCases(features)));
  return { features: features.length, cases: cases.length, problems: allProblems };
}

function typesProblems(folder: string, wanted: string, isNeeded: boolean): string[] {
  if (!isNeeded) return [];
  let existingText = "";
  try {
    existingText = readFileSync(join(folder, OVERLAY_TYPES), "utf8");
  } catch {
    // A missing file counts as an empty one, which differs from the expected text.
  }
  return existingText === wanted ? [] : [`${OVERLAY_TYPES} does not match the overlay: run \`drs feature lock\``];
}

function prepare(
  { bundle, file, fixtures }: BuiltFeature,
  feature: number,
): { cases: FeatureCase[]; problems: string[] } {
  const read = readFixtures(fixtures, bundle.manifest);
  const inFile = (problem: string): string => `${file}: ${problem}`;
  if (!read.ok) return { cases: [], problems: read.problems.map(inFile) };
  const cases = casesOf(bundle, read.cases).map((one) => ({ feature, where: file, case: one }));
  return { cases, problems: gapsOf(bundle, read.cases).map(inFile) };
}
