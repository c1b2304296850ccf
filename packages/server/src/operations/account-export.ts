import { randomUUID } from "node:crypto";
import type { Input } from "@device-risk-signals/admin-api";
import type { ApprovedOperation } from "../access/approvals/approvals.ts";
import { writeAudit } from "../audit/audit.ts";
import { countExportedAccounts } from "../audit/opened-events.ts";
import type { Pseudonymizer } from "../store/crypto/pseudonymizer.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import { plural } from "../base/messages/plural.ts";
import { inTransaction, streamSnapshot } from "../store/postgres/database.ts";
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import { exportAccount as partsOf } from "../lifecycle/requests/account-export.ts";
import { withPages } from "../lifecycle/requests/readable/readable-export.ts";
import { findRequest } from "../lifecycle/requests/request-table.ts";
import { findAccountKnowledge } from "../lifecycle/requests/known-account.ts";
import {
  type Approval,
  type ApprovalPorts,
  areApprovalsNeeded,
  askForApproval,
  findApprovalOf,
  lockPersons,
  openersOf,
  OPERATOR_OR_PRIVACY,
} from "./approvals.ts";
import { invalid, reasonOf } from "./input.ts";
import type { Operation } from "./operation.ts";
import { type Ports, type ReplayedPorts, requireReplayedJournal } from "./ports.ts";

type LimitPorts = "keys.pseudonymizer" | ApprovalPorts;
type StoredPorts = `installation.${"audit" | "featureSealer" | "pseudonymizer" | "sealer" | "secrets" | "database"}`;
type ExportPorts = "report" | LimitPorts | ReplayedPorts | StoredPorts;

/** The audit entry of the export is written before its first line. */
export const exportAccount: Operation<"exportAccount", ExportPorts> = async ({ ports, caller, input }) => {
  const { pool, clock, config, report } = ports;
  const { account, request_id } = input;
  const reason = reasonOf(input.reason, config);
  const { audit, secrets, sealer, featureSealer, pseudonymizer, database } = await requireReplayedJournal(ports);
  await requireRequest(pool, caller, input);
  await requireStoredData(pool, pseudonymizer, account);
  const export_id = randomUUID();
  const entry = { ...agentOf(caller), operation: "account.export", outcome: "done", account, reason };
  const references = { export_id, ...(request_id !== undefined && { request_id }) };
  const beyondLimit = await inTransaction(pool, async (transaction) => {
    const { approval, needed } = await limitExports(ports, transaction, caller, input);
    if (needed && !approval) return needed;
    await approval?.use(transaction, 1);
    await writeAudit(transaction, audit, { ...entry, references, ...(approval && { approvalId: approval.id }) });
    return undefined;
  });
  if (beyondLimit) return askForApproval(ports, caller, beyondLimit, reason);
  const onProgress = (events: number): void => report(plural(events, "event"));
  const exported_at = new Date(clock.now()).toISOString();
  const named = { account, export_id, exported_at, request_id: request_id ?? null };
  const { replayWindowMs, backupMs } = config.retention;
  const periods = { replayWindowMs, backupMs, auditRetentionMs: config.audit.retentionMs };
  // The snapshot is taken after the entry is written, so that the export also contains this access.
  const answer = streamSnapshot(database, (transaction) =>
    withPages(
      partsOf({ transaction, secrets, sealer, featureSealer, pseudonymizer, periods, onProgress }, named),
      input.language ?? "en",
    ),
  );
  return { answer };
};

/**
 * Limits the number of accounts that a person exports in 24 hours, in the transaction that writes the audit entry.
 * @returns `needed`: the operation, if an export needs an approval. `approval`: the approval of it that can be used.
 */
async function limitExports(
  ports: Ports<LimitPorts>,
  transaction: Transaction,
  caller: Caller,
  { account, request_id }: Input<"exportAccount">,
): Promise<{ readonly needed?: ApprovedOperation; readonly approval?: Approval | undefined }> {
  if (!areApprovalsNeeded(ports, caller)) return {};
  // guard: parallel exports of a person do not pass the limit together
  await lockPersons(transaction, LOCKS.exportedAccounts, caller);
  const { pseudonymizer, audit } = await ports.keys();
  const subject = pseudonymizer.subjectOf("account", account);
  const others = await countExportedAccounts(transaction, audit, await openersOf(transaction, caller), subject);
  // guard: an admin token, or a person beyond the limit, exports no account without an approval
  if (caller.session && others < ports.config.service.exportedAccountsLimit) return {};
  // The approval names the account by its MAC, because the approval outlives an erasure.
  const parameters = { account_mac: subject.toString("hex"), request_id };
  const plan = { ...parameters, exported_in_24_hours: others, by_admin_token: !caller.session };
  const planned = { operation: "account.export", parameters, plan, events: 1, isExact: true } as const;
  const needed = { ...planned, ...OPERATOR_OR_PRIVACY };
  return { needed, approval: await findApprovalOf(ports, transaction, caller, needed) };
}

async function requireRequest(
  executor: Executor,
  { via }: Caller,
  { account, request_id: id }: Input<"exportAccount">,
): Promise<void> {
  if (id === undefined) {
    // guard(false): the admin API exports no account without a data request
    if (via !== "direct") throw invalid("body/request_id", "is required");
    return;
  }
  const request = await findRequest(executor, id);
  // guard(false): an export is for an open request of its own account
  if (request?.closed_at !== null || request.account !== account) {
    throw new OperatorError("not-found", `There is no request ${id} of this account that is open.`);
  }
}

async function requireStoredData(executor: Executor, pseudonymizer: Pseudonymizer, account: string): Promise<void> {
  const accountKnowledge = await findAccountKnowledge(executor, pseudonymizer, account);
  if (accountKnowledge === "held") return;
  const but = accountKnowledge === "requested" ? " but its requests (drs request list)" : "";
  throw new OperatorError(
    "not-found",
    `Nothing is stored about this account${but}, and nothing is written: check the spelling.`,
  );
}
