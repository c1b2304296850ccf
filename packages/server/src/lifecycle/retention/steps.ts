import { sqlState } from "../../postgres/database.ts";

/** Work of a pass, with its name for the audit. */
export interface Step {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

export interface FailedStep {
  readonly step: string;
  readonly fault: unknown;
}

/** Runs steps one after the other; a step that fails keeps no other step from being done. */
export async function runSteps(steps: readonly Step[]): Promise<readonly FailedStep[]> {
  const failed: FailedStep[] = [];
  for (const { name, run } of steps) {
    await run().catch((fault: unknown) => failed.push({ step: name, fault }));
  }
  return failed;
}

/** For the audit: which steps failed, and the SQLSTATE or class of each error, whose message may quote another system. */
export function describeFailed(failed: readonly FailedStep[]): readonly { step: string; error: string }[] {
  return failed.map(({ step, fault }) => ({ step, error: sqlState(fault) ?? classOf(fault) }));
}

const classOf = (fault: unknown): string => (fault instanceof Error ? fault.name : typeof fault);

/** @returns one error that has those of all failed steps. */
export function errorOf(failed: readonly FailedStep[]): AggregateError {
  const names = [...new Set(failed.map(({ step }) => step))].join(", ");
  return new AggregateError(
    failed.map(({ fault }) => fault),
    `The pass is not complete; what failed: ${names}.`,
  );
}
