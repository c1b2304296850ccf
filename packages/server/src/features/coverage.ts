import type { Covers } from "@device-risk-signals/features/readings";
import { coversOf } from "../purposes/coverage.ts";
import { readCurrentPolicy } from "../purposes/policy-table.ts";
import { BUILT_IN_PURPOSE } from "../base/ports.ts";
import type { Executor } from "../store/postgres/executor.ts";

export interface Coverage {
  readonly policyVersion: number;
  /** What each purpose covers, by its code. */
  readonly covers: ReadonlyMap<number, Covers>;
}

/** Reads what the active policy covers. */
export async function readCoverage(executor: Executor): Promise<Coverage> {
  const { version, purposes } = await readCurrentPolicy(executor, BUILT_IN_PURPOSE);
  const covers = purposes.map(
    ({ code, probes, highest_sensitivity }) => [code, coversOf(probes, highest_sensitivity)] as const,
  );
  return { policyVersion: version, covers: new Map(covers) };
}
