import { listCases } from "../../cases/cases.ts";
import { OperatorError } from "../../errors/operator-error.ts";
import { compareVersions } from "../../features/compare-versions.ts";
import { suppressSmall } from "../../features/confusion.ts";
import { findBundles, requireNamedPurpose } from "../../features/decisions.ts";
import { findPurposeCode, readPolicyVersion } from "../../policy/policy-table.ts";
import { withOwner } from "../../postgres/database.ts";
import type { Operation, OperationCall } from "./operation.ts";
import { requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";

export const compareFeatures: Operation<"compareFeatures"> = async (call) => {
  const { ports, input } = call;
  const { before, after, from, case_id } = input;
  const { sealer } = await requireReplayedJournal(ports);
  if (case_id !== undefined) await requireOpenCase(call, case_id);
  const purpose = await findPurposeCode(ports.pool, input.purpose);
  if (purpose === undefined) {
    throw new OperatorError("not-found", "There is no such purpose: see drs purpose list.");
  }
  const [one, other] = [await findBundles(ports.pool, [before]), await findBundles(ports.pool, [after])].flat();
  if (!one || !other) throw new TypeError("each version has a bundle");
  // guard(drop): a version is computed of events of its purposes alone
  // fails: packages/server/src/admin/lineage.test.ts › of a purpose that both definitions name
  requireNamedPurpose([one, other], input.purpose);
  const policyVersion = await readPolicyVersion(ports.pool);
  const onProgress = (events: number): void => ports.report(`${events} events`);
  const filter = { purpose, ...(from !== undefined && { from: Date.parse(from) }) };
  // Reads events as the owner, as the evidence of an adoption does.
  const { cells, ...counts } = await withOwner(ports.administration, (executor) =>
    compareVersions({ executor, sealer, policyVersion, onProgress }, [one, other], filter),
  );
  const suppressed = suppressSmall(cells);
  const isExact = case_id !== undefined;
  // guard(false): small numbers are shown with a case only
  // fails: packages/server/src/admin/lineage.test.ts › small numbers
  const shown = isExact ? cells : suppressed.cells;
  const events = !isExact && suppressed.isTotalTelling ? null : counts.events;
  return {
    answer: {
      before,
      after,
      purpose: input.purpose,
      from: from ?? null,
      is_exact: isExact,
      events,
      undecided: counts.undecided,
      cells: [...shown],
    },
    audit: { detail: { before, after, purpose: input.purpose, events, ...(isExact && { case_id }) } },
  };
};

/** @throws AdminError case-invalid where the caller has no such open case. */
async function requireOpenCase({ ports, caller }: OperationCall<"compareFeatures">, caseId: string): Promise<void> {
  const filter = { person: caller.person, isOpen: true };
  const open = await listCases(ports.pool, ports.clock, filter);
  if (!open.some((one) => one.case_id === caseId.toLowerCase())) throw new AdminError("case-invalid");
}
