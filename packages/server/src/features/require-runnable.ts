import type { ProposedBundle } from "@device-risk-signals/features/archived";
import type { Bundle } from "@device-risk-signals/features";
import { OperatorError } from "../base/errors/operator-error.ts";

/**
 * Lints the programs, loads them in a separate process, after each was compared with its hash, and computes their
 * fixtures.
 * @throws input-invalid, state-conflict
 */
export async function requireRunnable(bundles: readonly ProposedBundle[]): Promise<void> {
  await rejectWrongFixtures(bundles);
  const { lintBundles } = await import("@device-risk-signals/features/archived");
  const findings = await lintBundles(bundles).catch(notStarted);
  // guard: an author may leave out the lint of a folder, and only the server sees programs in JSON
  if (findings.length > 0) throw new OperatorError("input-invalid", listed("The lint rejects programs", findings));
  await requireLoadable(bundles);
  await requireFixtures(bundles, "input-invalid");
}

/**
 * Computes the fixtures of bundles on both engines.
 * @throws an error with the code, if a result differs from what its fixture expects.
 */
export async function requireFixtures(
  bundles: readonly ProposedBundle[],
  code: "input-invalid" | "state-conflict",
): Promise<void> {
  const { failedFixtures } = await import("@device-risk-signals/features/archived");
  const problems = await failedFixtures(bundles);
  // guard: a version gives the results that its reviewers expect
  if (problems.length > 0) throw new OperatorError(code, listed("Fixtures fail", problems));
}

const MAX_LISTED = 20;

function listed(what: string, problems: readonly string[]): string {
  const more = problems.length > MAX_LISTED ? [`and ${problems.length - MAX_LISTED} more`] : [];
  return [`${what}. Run \`drs feature test\`:`, ...problems.slice(0, MAX_LISTED), ...more].join("\n  ");
}

/** Maximum processor time for loading the programs of a layer, which a worker loads again after each slow event. */
const MAX_LOAD_MS = 1_000;

/**
 * Loads the programs of a layer together, as a worker does.
 * @param maxLoadMs the processor time that this may take, in milliseconds.
 * @throws input-invalid for a program that can't be loaded, state-conflict if no process has memory and time for all of
 * them, or if they need more processor time.
 */
export async function requireLoadable(bundles: readonly Bundle[], maxLoadMs = MAX_LOAD_MS): Promise<void> {
  const { NotLoadable, openRunner } = await import("@device-risk-signals/features/runner");
  const runner = await openRunner(bundles).catch((cause: unknown) => {
    if (cause instanceof NotLoadable) {
      throw new OperatorError("input-invalid", `A bundle can't be loaded: ${cause.message}.`, { cause });
    }
    return notStarted(cause);
  });
  await runner.close();
  // guard(false): a program that loads slowly does not take all the time of a worker
  if (runner.loadMs > maxLoadMs) {
    const needed = `${Math.round(runner.loadMs)} ms of processor time`;
    throw new OperatorError(
      "state-conflict",
      `Loading these features takes ${needed}, more than ${maxLoadMs} ms: compute less outside of \`compute\`.`,
    );
  }
}

/** @throws state-conflict if no process for the features started; otherwise the error itself */
async function notStarted(cause: unknown): Promise<never> {
  const { NotStarted } = await import("@device-risk-signals/features/runner");
  if (!(cause instanceof NotStarted)) throw cause;
  const advice = "Name fewer of them, or repeat the command when the machine is less busy.";
  throw new OperatorError("state-conflict", `No process could load these features together. ${advice}`, { cause });
}

/** Checks the form of bundles, which a command may have read from any file. @throws input-invalid */
export async function requireForm(bundles: unknown): Promise<void> {
  const { isManifest } = await import("@device-risk-signals/features/manifest");
  const isBundle = (value: unknown): boolean => {
    const { id, version, hash, text, manifest } = (value ?? {}) as Partial<Record<string, unknown>>;
    const areTexts = [id, hash, text].every((member) => typeof member === "string");
    return areTexts && Number.isSafeInteger(version) && isManifest(manifest);
  };
  if (Array.isArray(bundles) && bundles.every(isBundle)) return;
  throw new OperatorError(
    "input-invalid",
    "The bundles are not an array of objects, each with id, version, hash, text and manifest.",
  );
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
