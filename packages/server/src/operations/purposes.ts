import { createHash } from "node:crypto";
import type { Input } from "@device-risk-signals/admin-api";
import { countDerivedEarlier } from "../features/derived-only.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf } from "../access/identity/caller.ts";
import type { Policy } from "../purposes/policy.ts";
import {
  type Applied,
  applyPolicy as apply,
  comparePolicy,
  countEarlier,
  readCurrentPolicy,
  readPolicyDocument,
} from "../purposes/policy-table.ts";
import { recordOfProcessing } from "../purposes/record-of-processing.ts";
import { BUILT_IN_PURPOSE } from "../base/ports.ts";
import { inOwnerTransaction, inTransaction } from "../store/postgres/database.ts";
import type { Transaction } from "../store/postgres/executor.ts";
import { type ApprovalPorts, approveEvents, type EventsApproval } from "./approvals.ts";
import { needsBreakGlass } from "./needs-break-glass.ts";
import { openReplayed, type RecoveredPorts } from "./journal-orders.ts";
import type { Operation, OperationCall } from "./operation.ts";

export const listPurposes: Operation<"listPurposes", "pool"> = async ({ ports }) => {
  const { version, purposes, actions, unmapped } = await readCurrentPolicy(ports.pool, BUILT_IN_PURPOSE);
  const rows = purposes.map(({ code, ...purpose }) => ({
    ...purpose,
    probes: purpose.probes && [...purpose.probes],
    export_attributes: [...purpose.export_attributes],
    action_types: [...actions].filter(([, of]) => of === code).map(([type]) => type),
    takes_unmapped: code === unmapped,
    policy_version: version,
  }));
  return { answer: { purposes: rows }, audit: { detail: { count: rows.length } } };
};

export const readProcessingRecord: Operation<"readProcessingRecord", "pool"> = async ({ ports }) => {
  const policy = await readPolicyDocument(ports.pool);
  if (!policy) throw new OperatorError("not-found", "No policy was applied yet: see drs purpose apply.");
  return { answer: { policy, record: recordOfProcessing(policy) }, audit: {} };
};

type PolicyPorts = "administration" | "installation.audit" | ApprovalPorts | RecoveredPorts;

export const applyPolicy: Operation<"applyPolicy", PolicyPorts> = async (call) => {
  const policy = await policyOf(call.input);
  const dryRun = call.input.dry_run ?? false;
  // guard(false): a dry run changes nothing
  const { version, changes } = dryRun ? await compare(call, policy) : await change(call, policy);
  return {
    answer: {
      version,
      changes: changes.map((one) => ("members" in one ? { ...one, members: [...one.members] } : one)),
      dry_run: dryRun,
    },
    ...(dryRun && { audit: { detail: { dry_run: true, changes: changes.length } } }),
  };
};

const COMPARING = { builtIn: BUILT_IN_PURPOSE, countDerivedEarlier } as const;

const compare = ({ ports }: OperationCall<"applyPolicy", "pool">, policy: Policy): Promise<Applied> =>
  inTransaction(ports.pool, (transaction) => comparePolicy(transaction, policy, COMPARING));

async function change(call: OperationCall<"applyPolicy", PolicyPorts>, policy: Policy): Promise<Applied> {
  const { ports, caller } = call;
  // The replay must come first: without it, this policy could give a new purpose the code by which an erasure in the
  // journal names another purpose.
  const { audit } = await openReplayed(ports.installation);
  const approval = await approvalOf(call, policy);
  const confirm = async (owner: Transaction, events: number): Promise<void> => {
    requireBreakGlassToExpire(call, events);
    await approval.confirm(owner, events);
  };
  return inOwnerTransaction(ports.administration, (owner) =>
    apply(owner, audit, policy, {
      ...COMPARING,
      agent: agentOf(caller),
      approvalId: approval.id,
      confirm: (changes) => confirm(owner, countEarlier(changes)),
    }),
  );
}

/**
 * A policy that makes many events expire earlier needs an approval by a second person, as an erasure of many events
 * does.
 */
async function approvalOf(call: OperationCall<"applyPolicy", ApprovalPorts>, policy: Policy): Promise<EventsApproval> {
  const { ports, caller, input } = call;
  const { version, changes } = await compare(call, policy);
  const sha256 = createHash("sha256").update(input.policy).digest("hex");
  const events = countEarlier(changes);
  const planned = { operation: "policy.apply", parameters: { sha256 }, plan: { version, changes }, events };
  return approveEvents(ports, caller, planned, `a policy that replaces policy ${version}`);
}

/**
 * Events that expire are destroyed, so the command needs `--break-glass`. The command checks the plan itself; this
 * function checks the events that the policy makes expire when it is applied.
 */
function requireBreakGlassToExpire({ ports, caller }: OperationCall<"applyPolicy", "config">, events: number): void {
  const isDirect = caller.via === "direct" && !ports.config.embedded;
  // guard(false): a command makes events that came after the plan expire only with --break-glass
  if (events > 0 && isDirect && !caller.breakGlass) throw needsBreakGlass();
}

/** @throws input-invalid with every problem of the file. */
async function policyOf({ policy: text }: Input<"applyPolicy">): Promise<Policy> {
  const { readPolicy } = await import("../purposes/read-policy.ts");
  const result = readPolicy(text);
  if (result.ok) return result.policy;
  throw new OperatorError(
    "input-invalid",
    ["The file is not a policy:", ...result.problems.map((problem) => `  ${problem}`)].join("\n"),
  );
}
