/** Computes archived fixtures with archived programs, on the engine that computes values and on a second one. */
import type { Executor } from "../store/postgres/executor.ts";
import { type FeatureName, findBundles, findFixtures } from "./decisions.ts";

export interface ProgramVerification {
  readonly feature: FeatureName;
  /** Number of results that were computed on each engine; 0 if no fixtures were proposed. */
  readonly cases: number;
  readonly problems: readonly string[];
}

export async function verifyPrograms(
  executor: Executor,
  names: readonly FeatureName[],
): Promise<readonly ProgramVerification[]> {
  const bundles = await findBundles(executor, names);
  const fixtures = await findFixtures(executor, names);
  // Imported here, because few commands need the second engine.
  const { checkArchived } = await import("@device-risk-signals/features/archived");
  const verified: ProgramVerification[] = [];
  for (const [index, bundle] of bundles.entries()) {
    const feature = names[index] as FeatureName;
    const archived = fixtures.get(feature);
    const { cases, problems } =
      archived === undefined ? { cases: 0, problems: [] } : await checkArchived(bundle, archived);
    verified.push({ feature, cases, problems });
  }
  return verified;
}
