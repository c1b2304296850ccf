import type { ProposedBundle } from "@device-risk-signals/features/archived";
import { OperatorError } from "../errors/operator-error.ts";

/**
 * Checks the fixtures, and loads the programs in a separate process, which compares each with its hash.
 * @throws input-invalid
 */
export async function requireRunnable(bundles: readonly ProposedBundle[]): Promise<void> {
  await rejectWrongFixtures(bundles);
  const { openRunner } = await import("@device-risk-signals/features/runner");
  const runner = await openRunner(bundles).catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error;
    throw new OperatorError("input-invalid", `A bundle can't be archived: ${error.message}.`, { cause: error });
  });
  await runner.close();
}

/**
 * Rejects bundles with wrong fixtures. A bundle may have none. The server archives fixtures, and `drs feature verify`
 * computes them again.
 */
async function rejectWrongFixtures(bundles: readonly ProposedBundle[]): Promise<void> {
  const { fixtureProblems } = await import("@device-risk-signals/features/archived");
  const at = bundles.findIndex(
    ({ manifest, fixtures }) => fixtures !== undefined && fixtureProblems(manifest, fixtures).length > 0,
  );
  if (at === -1) return;
  throw new OperatorError(
    "input-invalid",
    `Fixtures ${at + 1} do not fit the inputs of their feature. Run \`drs feature test\`.`,
  );
}
