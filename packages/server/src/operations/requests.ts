import type { Answer, Input } from "@device-risk-signals/admin-api";
import { findAccountExports } from "../audit/search-audit.ts";
import { writeAudit } from "../audit/audit.ts";
import type { AuditSigner } from "../audit/audit-signer.ts";
import type { Pseudonymizer } from "../store/crypto/pseudonymizer.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import { type ErasureRow, findErasures } from "../lifecycle/erasure/erasure-table.ts";
import { accountSubjects, planErasure, subjectMac } from "../lifecycle/erasure/plan-erasure.ts";
import type { Keys } from "../runtime/open-keys.ts";
import { plural } from "../base/messages/plural.ts";
import { readPurposeIds } from "../purposes/policy-table.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import type { Executor } from "../store/postgres/executor.ts";
import {
  addRequest as add,
  closeRequest as close,
  completeRequest,
  extendRequest as extend,
  findRequest,
  listRequests as queryRequests,
  type RequestOutcome,
  type RequestRow,
} from "../lifecycle/requests/request-table.ts";
import { findAnswer, needsExport } from "../lifecycle/requests/find-answer.ts";
import { findAccountKnowledge } from "../lifecycle/requests/known-account.ts";
import { auditedDryRun, invalid, reasonOf } from "./input.ts";
import type { AuditedRead, Operation } from "./operation.ts";
import type { Ports } from "./ports.ts";

export const listRequests: Operation<"listRequests", "keys.audit" | "pool"> = async ({ ports, input: { account } }) => {
  const mac = account === undefined ? undefined : (await ports.keys()).audit.subjectOf(account);
  const requests = await queryRequests(ports.pool, mac);
  const detail = { count: requests.length, ...(mac && { subject_mac: mac.toString("hex") }) };
  return { answer: { requests: [...requests] }, audit: { detail } };
};

type ChangePorts = "administration" | "keys.audit" | "keys.pseudonymizer";

export const addRequest: Operation<"addRequest", "clock" | "pool" | ChangePorts> = async ({ ports, caller, input }) => {
  const { clock } = ports;
  const { account, kind, identity, dry_run: isDryRun = false } = input;
  const receivedAt = input.received_at ?? new Date(clock.now()).toISOString();
  if (Date.parse(receivedAt) > clock.now()) throw invalid("body/received_at", "must not be after today");
  const { pseudonymizer } = await ports.keys();
  const is_known = (await findAccountKnowledge(ports.pool, pseudonymizer, account)) !== "unknown";
  const subjectMac = pseudonymizer.subjectOf("account", account);
  const wanted = { account, subjectMac, kind, receivedAt, identity, actor: caller.actor };
  const { answer, ...rest } = await change(ports, caller, { operation: "request.add", isDryRun }, (owner) =>
    add(owner, wanted),
  );
  return { answer: { ...answer, is_known }, ...rest };
};

export const extendRequest: Operation<"extendRequest", "config" | ChangePorts> = async ({ ports, caller, input }) => {
  const { request_id: id, dry_run: isDryRun = false } = input;
  const reason = reasonOf(input.reason, ports.config);
  return change(ports, caller, { operation: "request.extend", isDryRun }, async (owner) => {
    const row = await extend(owner, id, reason);
    if (row) return row;
    throw new OperatorError("not-found", `There is no request ${id} that is open and was not extended yet.`);
  });
};

export const closeRequest: Operation<"closeRequest", "config" | ChangePorts> = async ({ ports, caller, input }) => {
  const { outcome, erasure_id, dry_run: isDryRun = false } = input;
  const reason = input.reason === undefined ? undefined : reasonOf(input.reason, ports.config);
  if (outcome === "refused" && reason === undefined) throw invalid("body/reason", "is required with refused");
  if (outcome === "partly" && erasure_id === undefined) throw invalid("body/erasure_id", "is required with partly");
  const keys = await ports.keys();
  const closing = { ...input, ...(reason !== undefined && { reason }) };
  return change(ports, caller, { operation: "request.close", isDryRun }, (owner) =>
    closeOpen(owner, keys, closing, caller.actor),
  );
};

async function closeOpen(
  executor: Executor,
  { audit, pseudonymizer }: Pick<Keys, "audit" | "pseudonymizer">,
  input: Input<"closeRequest">,
  actor: string,
): Promise<RequestRow> {
  const { request_id: id, outcome, reason, identity } = input;
  const openRequest = await findRequest(executor, id);
  if (openRequest?.outcome === "partly" && outcome === "done") return complete(executor, openRequest, input);
  if (!openRequest || openRequest.closed_at !== null)
    throw new OperatorError("not-found", `There is no request ${id} that is open.`);
  // guard(false): a request is closed as done or partly only if it says how the identity was verified
  if (outcome !== "refused" && (identity ?? openRequest.identity) === null) {
    throw new OperatorError(
      "state-conflict",
      "The request does not say how the identity was verified: add --identity.",
    );
  }
  const named = { erasureId: input.erasure_id, exportId: input.export_id };
  const answer = outcome === "done" ? await findAnswer(executor, audit, openRequest, named) : named;
  const { erasureId, exportId } = answer;
  if (erasureId !== undefined) {
    const linkedErasure = await requireErasureOf(executor, pseudonymizer, openRequest.account, erasureId);
    requireOutcome(outcome, linkedErasure);
  } else if (outcome === "done") await requireDone(executor, pseudonymizer, openRequest, exportId);
  // guard(false): a request is linked only to an export of its account
  if (exportId !== undefined && !(await wasExported(executor, audit, openRequest.account, exportId))) {
    throw new OperatorError("not-found", `There is no export ${exportId} of this account: see drs audit list.`);
  }
  return (await close(executor, id, { outcome, actor, ground: reason, identity, ...answer })) ?? openRequest;
}

async function wasExported(
  executor: Executor,
  audit: AuditSigner,
  account: string | null,
  exportId: string,
): Promise<boolean> {
  if (account === null) return false;
  return (await findAccountExports(executor, audit, audit.subjectOf(account), { exportId })).length > 0;
}

/**
 * Completes a request that was closed in part. The request already has the erasure, identity, reason and export of the
 * first call, so the second call may give none of them.
 */
async function complete(
  executor: Executor,
  { request_id, still_held }: RequestRow,
  { reason, identity, erasure_id: erasure, export_id: exportId }: Input<"closeRequest">,
): Promise<RequestRow> {
  const given = Object.entries({ reason, identity, erasure, export: exportId }).filter(
    ([, value]) => value !== undefined,
  );
  if (given.length > 0) {
    const without = given.map(([option]) => `--${option}`).join(", ");
    throw new OperatorError(
      "state-conflict",
      `Request ${request_id} is closed in part, with all that it records: complete it without ${without}.`,
    );
  }
  const completed = await completeRequest(executor, request_id);
  if (completed) return completed;
  if (still_held > 0)
    throw new OperatorError(
      "state-conflict",
      `A hold still keeps ${plural(still_held, "event")} of its erasure: see drs hold list.`,
    );
  throw new OperatorError(
    "state-conflict",
    "The hold has ended, and its copies are deleted by the next retention pass: try again then.",
  );
}

function requireOutcome(outcome: RequestOutcome, { erasure_id, still_held, released }: ErasureRow): void {
  const left = still_held + released;
  if (outcome === "done" && left > 0) {
    throw new OperatorError(
      "state-conflict",
      `A hold keeps ${plural(left, "event")} of erasure ${erasure_id}: close it with --outcome partly.`,
    );
  }
  if (outcome === "partly" && left === 0) {
    throw new OperatorError(
      "state-conflict",
      `No hold keeps anything of erasure ${erasure_id}: close it with --outcome done.`,
    );
  }
}

/** Checks that a request has its result, before the request is closed as done without an erasure. */
async function requireDone(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  open: RequestRow,
  exportId: string | undefined,
): Promise<void> {
  if (open.kind === "erasure") return requireNothingLeft(executor, pseudonymizer, open);
  if (needsExport(open.kind) && exportId === undefined) await requireNoData(executor, pseudonymizer, open);
  // guard(false): a restriction that was asked for is placed
  if ((open.kind === "restriction" || open.kind === "objection") && open.restriction_id === null) {
    throw new OperatorError(
      "state-conflict",
      `The request led to no restriction: place it with drs restriction add --request ${open.request_id}, or name an erasure with --erasure.`,
    );
  }
}

/** Without data, there is nothing to export: this is the answer to the person. */
async function requireNoData(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  { account, kind, request_id }: RequestRow,
): Promise<void> {
  // guard: a request for data is done only if the data was exported
  if ((await findAccountKnowledge(executor, pseudonymizer, account ?? "")) !== "held") return;
  throw new OperatorError(
    "state-conflict",
    `The request for ${kind} led to no export: run drs account export --request ${request_id}, or name an earlier export with --export.`,
  );
}

async function requireNothingLeft(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  { account: of }: RequestRow,
): Promise<void> {
  const subject = { kind: "account", account: of ?? "" } as const;
  const { events, held, still_held, released, exports } = await planErasure(executor, pseudonymizer, subject);
  const left = events + held + still_held + released;
  if (left > 0)
    throw new OperatorError(
      "state-conflict",
      `The account still has ${plural(left, "event")}: run drs erase run --account, or name an earlier erasure with --erasure.`,
    );
  // guard(false): a request for erasure is not done while exports have values of the account
  if (exports.length > 0)
    throw new OperatorError(
      "state-conflict",
      `${plural(exports.length, "export has", "exports have")} values of the account: erase it, and name the erasure with --erasure.`,
    );
}

/**
 * Finds the erasure, which must be of the account or of one of its purposes. An erasure of an event or action names no
 * account, and is accepted without this check.
 */
async function requireErasureOf(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  account: string | null,
  erasureId: string,
): Promise<ErasureRow> {
  const [erasure] = await findErasures(executor, { erasureId });
  if (!erasure) throw new OperatorError("not-found", `There is no erasure ${erasureId}: see drs erase list.`);
  if (erasure.kind !== "account" && erasure.kind !== "purpose") return erasure;
  const subjects = accountSubjects(account ?? "", await readPurposeIds(executor));
  // guard(false): an erasure is of the account that asked
  if (!subjects.some((one) => subjectMac(pseudonymizer, one).toString("hex") === erasure.subject_mac)) {
    throw new OperatorError("state-conflict", `Erasure ${erasureId} is of another account.`);
  }
  return erasure;
}

async function change(
  { administration, keys }: Ports<ChangePorts>,
  caller: Caller,
  { operation, isDryRun }: { readonly operation: string; readonly isDryRun: boolean },
  work: (executor: Executor) => Promise<RequestRow>,
): Promise<{ readonly answer: Answer<"closeRequest">; readonly audit?: AuditedRead }> {
  const { audit } = await keys();
  const request = await inOwnerTransaction(
    administration,
    async (owner) => {
      const changed = await work(owner);
      const { request_id, kind, outcome, ground } = changed;
      const detail = { request_id, kind, outcome, ground };
      await writeAudit(owner, audit, { ...agentOf(caller), operation, outcome: "done", detail });
      return changed;
    },
    () => (isDryRun ? "rollback" : "commit"),
  );
  return { answer: { request }, ...(isDryRun && auditedDryRun({ detail: { request_id: request.request_id } })) };
}
