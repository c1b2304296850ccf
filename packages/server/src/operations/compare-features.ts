import { scopeOf } from "@device-risk-signals/admin-api";
import type { Bundle } from "@device-risk-signals/features";
import { addOpenedEvents, type CaseRow, findOpenCase } from "../access/cases/case-table.ts";
import type { Caller } from "../access/identity/caller.ts";
import { compareVersions } from "../features/compare-versions.ts";
import { suppressSmall } from "../features/confusion.ts";
import { findBundles, requireNamedPurpose } from "../features/decisions.ts";
import { requirePurposeCode, readPolicyVersion } from "../purposes/policy-table.ts";
import { withOwner } from "../store/postgres/database.ts";
import { type AuditPorts, auditBegun } from "./audit-around.ts";
import type { AuditedRead, Operation, OperationCall } from "./operation.ts";
import { type ReplayedPorts, requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { isSensitive } from "./sensitive-fields.ts";

const DAY_MS = 86_400_000;

export const compareFeatures: Operation<
  "compareFeatures",
  "administration" | "clock" | "installation.sealer" | "report" | AuditPorts | ReplayedPorts
> = async (call) => {
  const { ports, input } = call;
  const { before, after, case_id } = input;
  const { sealer } = await requireReplayedJournal(ports);
  const opened = case_id === undefined ? undefined : await requireOpenCase(call, case_id);
  const purpose = await requirePurposeCode(ports.pool, input.purpose);
  const [beforeBundle, afterBundle] = [
    await findBundles(ports.pool, [before]),
    await findBundles(ports.pool, [after]),
  ].flat();
  if (!beforeBundle || !afterBundle) throw new TypeError("each version has a bundle");
  // guard(drop): a version is computed only for events of its purposes
  requireNamedPurpose([beforeBundle, afterBundle], input.purpose);
  if (opened) requireReadable(call.caller, [beforeBundle, afterBundle]);
  const policyVersion = await readPolicyVersion(ports.pool);
  const onProgress = (events: number): void => ports.report(`${events} events`);
  const from = startOf(input.from, opened !== undefined);
  const filter = { purpose, ...(from !== undefined && { from }), ...(opened && coveredBy(opened)) };
  const why = opened ? entryOf(opened) : {};
  const detail = { before, after, purpose: input.purpose };
  await auditBegun(call, "compareFeatures", { ...why, detail });
  // Reads events with the owner's login, as the computation of the evidence for an adoption does.
  const counts = await withOwner(ports.administration, (executor) =>
    compareVersions({ executor, sealer, policyVersion, onProgress }, [beforeBundle, afterBundle], filter),
  );
  if (opened) await addOpenedEvents(ports.pool, opened.case_id, counts.events + counts.undecided);
  const isExact = opened !== undefined;
  // guard(true): small numbers are shown with a case only
  const { cells, events, undecided } = isExact ? counts : suppressSmall(counts);
  return {
    answer: {
      before,
      after,
      purpose: input.purpose,
      from: from === undefined ? null : new Date(from).toISOString(),
      is_exact: isExact,
      events,
      undecided,
      cells: [...cells],
    },
    audit: { ...why, detail: { ...detail, events } },
  };
};

/** @throws AdminError case-invalid if no open case of the caller for an account or an action has the id. */
async function requireOpenCase(
  { ports, caller }: OperationCall<"compareFeatures", "clock" | "pool">,
  caseId: string,
): Promise<CaseRow & { readonly account: string }> {
  const openedCase = await findOpenCase(ports.pool, ports.clock, caseId, caller.person);
  if (!openedCase || openedCase.account === null || openedCase.scope === "event") throw new AdminError("case-invalid");
  return { ...openedCase, account: openedCase.account };
}

/**
 * With a case, a number in the answer may be about a single event. If a version reads a field of high sensitivity, the
 * caller therefore needs the permission to read such fields of events.
 * @throws AdminError permission-missing
 */
function requireReadable(caller: Caller, versions: readonly Bundle[]): void {
  const readsSensitive = versions.some(({ manifest }) => manifest.inputs.some(({ path }) => isSensitive(path)));
  const mayRead = caller.via === "direct" || scopeOf("events.observations", caller.roles) === "full";
  // guard(false): a case shows exact numbers only of fields that the caller may read
  if (readsSensitive && !mayRead) {
    throw new AdminError("permission-missing", {
      detail: "With a case, versions that read fields of high sensitivity need the role investigator, too.",
    });
  }
}

/**
 * The start of the comparison. Without a case it is rounded down to the start of the day in UTC, so that two
 * comparisons can't differ by a single event.
 */
function startOf(from: string | undefined, isExact: boolean): number | undefined {
  if (from === undefined) return undefined;
  const at = Date.parse(from);
  // guard(true): without a case, a comparison begins with a day
  return isExact ? at : Math.floor(at / DAY_MS) * DAY_MS;
}

/** Limits the comparison to the events that the case covers. */
const coveredBy = ({ scope, subject, account }: CaseRow & { readonly account: string }) => ({
  // guard(drop): a case shows numbers of its own account
  account,
  ...(scope === "action" && { actionId: subject }),
});

const entryOf = ({
  case_id,
  category,
  ticket,
  reason,
  account,
}: CaseRow & { readonly account: string }): AuditedRead => ({
  caseId: case_id,
  category,
  reason,
  account,
  ...(ticket !== null && { ticket }),
});
