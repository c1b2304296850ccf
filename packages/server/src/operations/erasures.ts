import type { Answer, Input } from "@device-risk-signals/admin-api";
import type { ApprovedOperation } from "../access/approvals/approvals.ts";
import {
  type ErasureParts,
  erasurePorts,
  journalPorts,
  type OrderParts,
  requireJournal,
} from "../runtime/lifecycle-ports.ts";
import { type RecoveryParts, requireReplayedStores } from "../runtime/recover.ts";
import { writeAudit } from "../audit/audit.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import { findRecalls } from "../features/exports/recalls.ts";
import { AppendWatch } from "../lifecycle/journal/append-watch.ts";
import { findLatestApplied } from "../lifecycle/journal/applied-entries.ts";
import type { KnownEntry } from "../lifecycle/journal/chain.ts";
import { readWatermark } from "../lifecycle/journal/key-store-watermark.ts";
import { beginErasure } from "../lifecycle/erasure/begin-erasure.ts";
import { type ErasureRow, findErasures, receiptOf, requireSubject } from "../lifecycle/erasure/erasure-table.ts";
import {
  accountSubjects,
  type ErasurePlan,
  type ErasureSubject,
  isNothing,
  planErasure as planOf,
  subjectMac,
} from "../lifecycle/erasure/plan-erasure.ts";
import { acceptLoss, requireLoss } from "../lifecycle/recovery/accept-loss.ts";
import { type Comparison, findKnownEntries } from "../lifecycle/recovery/compare-with-journal.ts";
import { destroyedSecrets, refusingLost } from "../lifecycle/recovery/destroyed-secrets.ts";
import { finishErasuresNow } from "../lifecycle/retention-worker.ts";
import { requirePurposeCode, readPurposeIds } from "../purposes/policy-table.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { type ApprovalPorts, approveEvents } from "./approvals.ts";
import { auditedDryRun, invalid, reasonOf } from "./input.ts";
import { openReplayed } from "./journal-orders.ts";
import type { Operation, OperationResult } from "./operation.ts";
import type { Ports } from "./ports.ts";

export const listErasures: Operation<"listErasures", "keys.pseudonymizer" | "pool"> = async ({ ports, input }) => {
  const subjects = await subjectsOf(ports.pool, input);
  const macs = subjects && (await macsOf(ports, subjects));
  const rows = await findErasures(ports.pool, macs ? { subjectMacs: macs } : {});
  const detail = { count: rows.length, ...(macs && { subject_mac: macs[0]?.toString("hex") }) };
  return { answer: { erasures: rows.map(shown) }, audit: { detail } };
};

export const planErasure: Operation<"planErasure", "keys.pseudonymizer" | "pool"> = async ({ ports, input }) => {
  const { pool } = ports;
  const subject = await subjectOf(pool, input);
  const { pseudonymizer } = await ports.keys();
  const plan = await planOf(pool, pseudonymizer, subject);
  if (isNothing(plan) && plan.still_held + plan.released === 0) {
    await requireKnown(pool, subjectMac(pseudonymizer, subject));
  }
  return { answer: shownPlan(plan), audit: { detail: { kind: subject.kind, ...plan, exports: plan.exports.length } } };
};

type Parts = ErasureParts & RecoveryParts;
type PreviewPorts = "access" | "pool" | `installation.${keyof Parts}` | `keys.${"accountKeys" | "pseudonymizer"}`;
type ErasingPorts = "administration" | "database" | `installation.${keyof Parts}` | ApprovalPorts;

export const runErasure: Operation<"runErasure", ErasingPorts | PreviewPorts> = async ({ ports, caller, input }) => {
  const reason = reasonOf(input.reason, ports.config);
  if (input.refuse_later && (input.account === undefined || input.purpose !== undefined)) {
    throw invalid("body/refuse_later", "needs account and excludes purpose");
  }
  const subject = await subjectOf(ports.pool, input);
  if (input.dry_run) return { answer: await previewErasure(ports, subject, input), ...auditedDryRun() };
  const { callId: erasureId } = caller;
  const [started] = erasureId === undefined ? [] : await findErasures(ports.pool, { erasureId });
  // guard(drop): a key that began the erasure of another subject does not pass for an erasure of this one
  if (started) requireSubject(started, subjectMac((await ports.keys()).pseudonymizer, subject));
  // guard(drop): an erasure that was started is finished, and erases nothing that was stored since
  if (started) return erase(ports, caller, subject, { ...input, reason, only_finish: true });
  return erase(ports, caller, subject, { ...input, reason });
};

type Erased = Answer<"runErasure">;

const shownPlan = ({ exports, ...plan }: ErasurePlan): Erased["plan"] => ({ ...plan, exports: [...exports] });

/** Previews an erasure. It compares the database with the journal only if the connection may make changes. */
async function previewErasure(
  ports: Ports<PreviewPorts>,
  subject: ErasureSubject,
  { account, refuse_later = false, unknown = false }: Input<"runErasure">,
): Promise<Erased> {
  if (ports.access === "change") {
    requireJournal(await openReplayed(ports.installation));
  }
  const { accountKeys, pseudonymizer } = await ports.keys();
  const plan = await planOf(ports.pool, pseudonymizer, subject);
  const refuses = refuse_later && !accountKeys.isRefused(account ?? "");
  const isKnown = await isSubjectKnown(ports.pool, subjectMac(pseudonymizer, subject), plan);
  return {
    plan: shownPlan(plan),
    is_known: isKnown,
    is_needed: (!isKnown && unknown) || !isNothing(plan) || refuses,
    erasure: null,
    receipt: null,
    still_held: plan.still_held,
    recalls: [],
  };
}

async function erase(
  ports: Ports<ErasingPorts>,
  caller: Caller,
  subject: ErasureSubject,
  input: Input<"runErasure">,
): Promise<OperationResult<"runErasure">> {
  const { pool, database } = ports;
  const installation = await ports.installation();
  const compared = await requireReplayedStores(installation);
  const { pseudonymizer, accountKeys } = installation;
  const plan = await planOf(pool, pseudonymizer, subject);
  const mac = subjectMac(pseudonymizer, subject);
  requireJournal(installation);
  await finishErasuresNow({ ...erasurePorts(installation), database });
  const refuses = (input.refuse_later ?? false) && !accountKeys.isRefused(input.account ?? "");
  // guard(left): an account that was erased can be refused later on
  const isNeededHere = !isNothing(plan) || refuses;
  const isKnown = await isSubjectKnown(pool, mac, plan);
  // guard(left): an erasure of an unknown subject is written for the backups that may have it
  const isNeeded = isNeededHere || (!isKnown && input.unknown === true);
  const begins = isNeeded && !input.only_finish;
  const sequence = begins
    ? // Another call may have been quicker: then nothing is left.
      ((await beginAndFinish(ports, caller, { subject, mac, plan, isKnown, compared, installation }, input)) ??
      (await requireKnown(pool, mac)))
    : await findBefore(pool, mac, plan);
  const [erasure] = sequence === undefined ? [] : await findErasures(pool, { sequence });
  const receipt = sequence === undefined ? undefined : await receiptOf(pool, sequence);
  const { still_held } = sequence === undefined ? plan : await planOf(pool, pseudonymizer, subject);
  const recalls = erasure ? await findRecalls(pool, { erasureId: erasure.erasure_id }) : [];
  const answer: Erased = {
    plan: shownPlan(plan),
    is_known: isKnown,
    is_needed: begins,
    erasure: erasure ? shown(erasure) : null,
    receipt: receipt ?? null,
    still_held,
    recalls: recalls.map(({ export_id, recipient, rows }) => ({ export_id, recipient, rows: rows.length })),
  };
  if (!begins) await auditRead(installation, caller, subject, mac);
  return { answer };
}

/**
 * Audits an answer about an earlier erasure as a read, also for a command on the database. Only an erasure that begins
 * writes an entry itself.
 */
async function auditRead({ pool, audit }: Parts, caller: Caller, { kind }: ErasureSubject, mac: Buffer): Promise<void> {
  const detail = { kind, subject_mac: mac.toString("hex"), only_read: true };
  await writeAudit(pool, audit, { ...agentOf(caller), operation: "erase.run", outcome: "done", detail });
}

interface PlannedErasure {
  readonly subject: ErasureSubject;
  readonly mac: Buffer;
  readonly plan: ErasurePlan;
  readonly isKnown: boolean;
  readonly compared: Comparison;
  readonly installation: Parts;
}

/**
 * Erases a subject. The audit entry, with the keyed MAC of the subject, exists before anything is deleted.
 * @returns the sequence of the erasure in the journal; `undefined` if nothing was left to erase.
 */
async function beginAndFinish(
  ports: Ports<ErasingPorts>,
  caller: Caller,
  { subject, mac, plan, isKnown, compared, installation }: PlannedErasure,
  { reason, refuse_later: refuseLater = false }: Input<"runErasure">,
): Promise<number | undefined> {
  const { pool, administration } = ports;
  const { audit, secrets, sealer, featureSealer, database } = installation;
  const references = { kind: subject.kind, subject_mac: mac.toString("hex") };
  const detail = { refuse_later: refuseLater };
  // The approval names the subject by its MAC, because the approval outlives the erasure.
  const parameters = { ...references, ...detail, reason };
  const planned = { operation: "erase.run", parameters, plan: planToApprove(plan), events: eventsOf(plan) };
  const approval = await approveEvents(ports, caller, planned, reason);
  const watch = new AppendWatch();
  const onUnreadable = refusingLost(secrets, destroyedSecrets(compared));
  const journal = { ...journalPorts(installation, watch), sealer, featureSealer, onUnreadable };
  const agent = agentOf(caller);
  const entry = { ...agent, operation: "erase.run", outcome: "begun", reason, references, detail };
  await writeAudit(pool, audit, { ...entry, ...(approval.id !== undefined && { approvalId: approval.id }) });
  // A repeated call finds the erasure by this id, even if a restored database got the erasure from the journal.
  const ofCall = caller.callId !== undefined && { erasureId: caller.callId };
  const order = { ...ofCall, subject, actor: agent.actor, reason, refuseLater, isUnknown: !isKnown };
  const sequence = await inOwnerTransaction(administration, async (owner) =>
    beginErasure(owner, journal, { ...order, onPlan: (found) => approval.confirm(owner, eventsOf(found)) }),
  ).catch((error: unknown) => {
    throw watch.explain(error);
  });
  await finishErasuresNow({ ...erasurePorts(installation), database });
  return sequence;
}

/**
 * Maximum number of exports that an approver is shown: an approval has a limited size, and an erasure can't be divided.
 */
const SHOWN_EXPORTS = 50;

export function planToApprove({ exports, ...counts }: ErasurePlan): ApprovedOperation["plan"] {
  const further = exports.length - SHOWN_EXPORTS;
  return { ...counts, exports: exports.slice(0, SHOWN_EXPORTS), ...(further > 0 && { further_exports: further }) };
}

/** An erasure that deletes no event may refuse an account, or end its sessions: it counts as one event. */
const eventsOf = ({ events, held, derived_only }: ErasurePlan): number => Math.max(events + held + derived_only, 1);

/**
 * Accepts the loss of an entry of the journal, after a check that it is the first damaged entry. A dry run only makes
 * this check.
 */
export const acceptJournalLoss: Operation<
  "acceptJournalLoss",
  "administration" | "config" | "pool" | `installation.${"attested" | "audit" | keyof OrderParts}`
> = async ({ ports, caller, input }) => {
  const { entry: sequence } = input;
  const reason = reasonOf(input.reason, ports.config);
  const installation = await ports.installation();
  const journal = { ...journalPorts(installation), audit: installation.audit };
  const known = async (executor: Executor): Promise<readonly KnownEntry[]> =>
    findKnownEntries(installation, await findLatestApplied(executor), await readWatermark(installation.keyStore));
  const answer = { entry: sequence };
  if (input.dry_run) {
    await requireLoss(journal, await known(ports.pool), sequence);
    return { answer, ...auditedDryRun({ detail: answer }) };
  }
  const statement = { sequence, ...agentOf(caller), reason };
  await inOwnerTransaction(ports.administration, async (owner) =>
    acceptLoss(owner, journal, await known(owner), statement),
  );
  return { answer };
};

type Subject = Pick<Input<"planErasure">, "account" | "purpose" | "action_id" | "event_id">;

/**
 * The subjects whose erasures are listed. For an account they include each of its purposes. `undefined` if the input
 * names no subject.
 */
async function subjectsOf(executor: Executor, input: Subject): Promise<readonly ErasureSubject[] | undefined> {
  const { account, purpose, action_id, event_id } = input;
  if ([account, purpose, action_id, event_id].every((value) => value === undefined)) return undefined;
  const subject = await subjectOf(executor, input);
  return subject.kind === "account" ? accountSubjects(subject.account, await readPurposeIds(executor)) : [subject];
}

/**
 * @throws AdminError request-invalid if the input names no subject or several, or a purpose without an account.
 * @throws not-found for an unknown purpose.
 */
async function subjectOf(executor: Executor, input: Subject): Promise<ErasureSubject> {
  const { account, purpose, action_id, event_id } = input;
  const givenNames = [account, action_id, event_id].filter((value) => value !== undefined);
  if (givenNames.length !== 1) throw invalid("subject", "one of account, action_id and event_id says what is erased");
  if (purpose !== undefined && account === undefined) throw invalid("purpose", "needs account");
  if (action_id !== undefined) return { kind: "action", actionId: action_id };
  if (event_id !== undefined) return { kind: "event", eventId: event_id };
  if (purpose === undefined) return { kind: "account", account: account ?? "" };
  return { kind: "purpose", account: account ?? "", purpose: await requirePurposeCode(executor, purpose) };
}

async function macsOf(
  { keys }: Ports<"keys.pseudonymizer">,
  subjects: readonly ErasureSubject[],
): Promise<readonly Buffer[]> {
  const { pseudonymizer } = await keys();
  return subjects.map((subject) => subjectMac(pseudonymizer, subject));
}

/**
 * Finds the latest erasure of the subject.
 * @returns `undefined` if the subject has data and was never erased.
 * @throws not-found if the subject has no data and was never erased.
 */
async function findBefore(executor: Executor, mac: Buffer, plan: ErasurePlan): Promise<number | undefined> {
  if (isNothing(plan) && plan.still_held + plan.released === 0) return requireKnown(executor, mac);
  return (await findErasures(executor, { subjectMacs: [mac] }))[0]?.sequence;
}

/** Whether data of the subject is stored, or the subject was erased before. */
async function isSubjectKnown(executor: Executor, mac: Buffer, plan: ErasurePlan): Promise<boolean> {
  if (!isNothing(plan) || plan.still_held + plan.released > 0) return true;
  return (await findErasures(executor, { subjectMacs: [mac] })).length > 0;
}

/** Finds the latest erasure of a subject that has no data any more. @throws not-found if it was never erased. */
async function requireKnown(executor: Executor, mac: Buffer): Promise<number> {
  const [before] = await findErasures(executor, { subjectMacs: [mac] });
  if (!before) throw new OperatorError("not-found", "Nothing is known of this subject: check the spelling.");
  return before.sequence;
}

const shown = ({ destroyed_keys, lost_keys, ...row }: ErasureRow): NonNullable<Erased["erasure"]> => ({
  ...row,
  destroyed_keys: [...destroyed_keys],
  lost_keys: [...lost_keys],
});
