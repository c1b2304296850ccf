import { OperatorError } from "../../base/errors/operator-error.ts";
import { sqlState } from "../../store/postgres/errors.ts";

/** A step of a pass, with its name for the audit. */
export interface Step {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

export interface FailedStep {
  readonly step: string;
  readonly error: unknown;
}

/** Runs steps one after another, including the steps after one that failed. @returns the failed steps. */
export async function runSteps(steps: readonly Step[]): Promise<readonly FailedStep[]> {
  const failed: FailedStep[] = [];
  for (const { name, run } of steps) {
    await run().catch((error: unknown) => failed.push({ step: name, error }));
  }
  return failed;
}

/**
 * Describes failed steps for the audit: their names, and the SQLSTATE, code or class of each error. It leaves out the
 * messages, because they may quote another system.
 */
export function describeFailed(failed: readonly FailedStep[]): readonly { step: string; error: string }[] {
  return failed.map(({ step, error }) => ({ step, error: sqlState(error) ?? kindOf(error) }));
}

function kindOf(error: unknown): string {
  if (error instanceof OperatorError) return error.code;
  return error instanceof Error ? error.name : typeof error;
}

/** @returns one error that contains the errors of all failed steps. */
export function errorOf(failed: readonly FailedStep[]): AggregateError {
  const names = [...new Set(failed.map(({ step }) => step))].join(", ");
  return new AggregateError(
    failed.map(({ error }) => error),
    `The pass is not complete; what failed: ${names}.`,
  );
}
