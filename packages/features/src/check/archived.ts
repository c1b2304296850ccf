/** Lints bundles that another program sent, and checks and computes the fixtures that were proposed with them. */
import type { Bundle, Manifest } from "../manifest.ts";
import { casesOf } from "./cases.ts";
import { checkCases, type FeatureCase } from "./check-cases.ts";
import { parseFixtures } from "./fixtures.ts";

export { lintBundles } from "./lint-bundles.ts";

/** A bundle as it is proposed. */
export interface ProposedBundle extends Bundle {
  /** The parsed content of the fixtures file. */
  readonly fixtures?: unknown;
}

/** @returns what is wrong with the fixtures of a bundle; empty if they can be computed */
export function fixtureProblems(manifest: Manifest, fixtures: unknown): readonly string[] {
  const parsed = parseFixtures(fixtures, manifest);
  return parsed.ok ? [] : parsed.problems;
}

/**
 * Computes the fixtures of bundles, and the derived cases, on two engines. A bundle without fixtures has only the cases
 * in which all inputs have the same state without a value.
 *
 * @param bundles bundles whose fixtures have no problems (see `fixtureProblems`).
 * @returns what is wrong; empty if both engines give the results that the fixtures expect.
 */
export async function failedFixtures(bundles: readonly ProposedBundle[]): Promise<readonly string[]> {
  const cases = bundles.flatMap((bundle, feature): FeatureCase[] => {
    // guard: a bundle without fixtures does not throw, block or invent a value where the inputs have none
    const parsed = parseFixtures(bundle.fixtures === undefined ? { cases: [] } : bundle.fixtures, bundle.manifest);
    if (!parsed.ok) return [];
    const where = `${bundle.id}@${bundle.version}`;
    return casesOf(bundle, parsed.cases).map((one) => ({ feature, where, case: one }));
  });
  return checkCases(bundles, cases);
}

export interface ArchivedCheck {
  /** Number of cases that each engine computed. */
  readonly cases: number;
  /** Empty if both engines give the results that the fixtures expect. */
  readonly problems: readonly string[];
}

/** Time limit of QuickJS, in milliseconds. It needs less than a millisecond for a case, unless a program is slow. */
const QUICKJS_MS = 2_000;

/** Computes the archived fixtures of an archived bundle, and the cases that are derived from them, on two engines. */
export async function checkArchived(bundle: Bundle, fixtures: unknown): Promise<ArchivedCheck> {
  const parsed = parseFixtures(fixtures, bundle.manifest);
  if (!parsed.ok) return { cases: 0, problems: parsed.problems };
  const where = `${bundle.id}@${bundle.version}`;
  const cases = casesOf(bundle, parsed.cases).map((one) => ({ feature: 0, where, case: one }));
  return { cases: cases.length, problems: await checkCases([bundle], cases, QUICKJS_MS) };
}
