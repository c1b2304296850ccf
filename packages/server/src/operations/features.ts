import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Role, RouteId } from "@device-risk-signals/admin-api";
import type { Bundle } from "@device-risk-signals/features";
import type { ProposedBundle } from "@device-risk-signals/features/archived";
import { personsOfActor } from "../audit/actor-persons.ts";
import { addOpenedEvents, type CaseRow, findOpenCase, isCovered } from "../access/cases/case-table.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import {
  type Adoption,
  findBundles,
  findFixtures,
  isProposer,
  listDecisions,
  listLayers,
  nameOf,
  recordAdoption,
  recordEquivalents,
  recordProposal,
  recordRetirement,
} from "../features/decisions.ts";
import { requireEquivalent } from "../features/equivalence.ts";
import { type Evidence, gatherEvidence, inputsOf } from "../features/evidence.ts";
import { readDueState } from "../features/extraction-due.ts";
import { type FeatureRow, revealFeatures } from "../features/feature-rows.ts";
import { isPending, type ListedFeatures, listFeatures, openListed } from "../features/read-features.ts";
import { requirePublishedInputs } from "../features/accepted-inputs.ts";
import { requireFixtures, requireForm, requireLoadable, requireRunnable } from "../features/require-runnable.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import { requirePurposeCode, readPolicyVersion, readPurposeIds } from "../purposes/policy-table.ts";
import { inOwnerTransaction, withOwner } from "../store/postgres/database.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { type Approval, type ApprovalPorts, requireApproval } from "./approvals.ts";
import { type AuditPorts, auditBegun, auditNotFound, auditRevealed } from "./audit-around.ts";
import { auditedDryRun, invalid, reasonOf } from "./input.ts";
import { openReplayed, type RecoveredPorts } from "./journal-orders.ts";
import type { Operation, OperationCall } from "./operation.ts";
import { type Ports, type ReplayedPorts, requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { seesRestricted } from "./reveal.ts";

const LIMIT = 50;
const LOOK_EVERY_MS = 50;

type EvidencePorts = "administration" | "clock" | "keys.sealer";
type ReadingPorts = "access" | "config" | AuditPorts;
/** What a decision uses that reads programs, and is recorded by the owner's login. */
type DecisionPorts = "administration" | "installation.audit" | ReadingPorts | RecoveredPorts;

export const proposeFeatures: Operation<
  "proposeFeatures",
  "keys.driftDecisions" | DecisionPorts | EvidencePorts
> = async (call) => {
  const { ports, caller, input } = call;
  const reason = reasonOf(input.reason, ports.config);
  await requireForm(input.bundles);
  const bundles = input.bundles as readonly ProposedBundle[];
  await requirePublishedInputs(ports.pool, (await ports.keys()).driftDecisions, bundles);
  const installation = input.dry_run ? undefined : await openReplayed(ports.installation);
  await auditReading(call, "proposeFeatures", bundles);
  await requireRunnable(bundles);
  const evidence = await evidenceOf(ports, bundles);
  if (!installation) {
    return { answer: { proposed: [], evidence: shownEvidence(evidence), dry_run: true }, ...auditedDryRun() };
  }
  const { audit } = installation;
  const proposed = await inOwnerTransaction(ports.administration, (owner) =>
    recordProposal(owner, audit, bundles, evidence, { ...agentOf(caller), reason }),
  );
  return { answer: { proposed: [...proposed], evidence: shownEvidence(evidence), dry_run: false } };
};

export const recordEquivalence: Operation<
  "recordEquivalence",
  "installation.sealer" | "report" | DecisionPorts
> = async (call) => {
  const { ports, caller, input } = call;
  const reason = reasonOf(input.reason, ports.config);
  await requireForm(input.bundles);
  const bundles = input.bundles as readonly ProposedBundle[];
  const { sealer, audit } = await openReplayed(ports.installation);
  await auditReading(call, "recordEquivalence", bundles);
  await requireRunnable(bundles);
  const purposes = new Map([...(await readPurposeIds(ports.pool))].map(([code, id]) => [id, code]));
  const policyVersion = await readPolicyVersion(ports.pool);
  const onProgress = (events: number): void => ports.report(`${events} events`);
  // Reads events with the owner's login, as `evidenceOf` does.
  const evidence = await withOwner(ports.administration, (executor) =>
    requireEquivalent({ executor, sealer, policyVersion, onProgress }, bundles, purposes),
  );
  const { programs, unreadable } = evidence;
  const answer = { programs: [...programs], unreadable, dry_run: input.dry_run ?? false };
  if (answer.dry_run) return { answer, ...auditedDryRun() };
  if (programs.length > 0) {
    await inOwnerTransaction(ports.administration, (owner) =>
      recordEquivalents(owner, audit, evidence, { ...agentOf(caller), reason }),
    );
  }
  return { answer };
};

export const adoptFeatures: Operation<
  "adoptFeatures",
  "installation.driftDecisions" | ApprovalPorts | DecisionPorts | EvidencePorts
> = async (call) => {
  const { ports, caller, input } = call;
  const reason = reasonOf(input.reason, ports.config);
  const purpose = await requirePurpose(ports, input.purpose);
  const features = [...new Set(input.features)].toSorted();
  const bundles = await findBundles(ports.pool, features);
  const installation = input.dry_run ? undefined : await openReplayed(ports.installation);
  await auditReading(call, "adoptFeatures", bundles, { purpose: purpose.id });
  // guard(drop): features that no worker can load together are not adopted together
  await requireLoadable(bundles);
  const fixtures = await findFixtures(ports.pool, features);
  await requireFixtures(
    bundles.map((bundle) => ({ ...bundle, fixtures: fixtures.get(nameOf(bundle)) })),
    "state-conflict",
  );
  const evidence = await evidenceOf(ports, bundles, purpose.code);
  if (!installation)
    return { answer: { layer: null, evidence: shownEvidence(evidence), dry_run: true }, ...auditedDryRun() };
  const adoption: Adoption = { features, purpose, evidence, acceptsRefusals: input.accept_refusals ?? false };
  const isSensitive = bundles.some(({ manifest }) => manifest.inputs.some(({ sensitivity }) => sensitivity === "high"));
  const approval = await approvalOf(ports, caller, adoption, isSensitive, reason);
  const decider = { ...agentOf(caller), reason, ...(approval && { approvalId: approval.id }) };
  const layer = await inOwnerTransaction(ports.administration, async (owner) => {
    await approval?.use(owner, 0);
    return recordAdoption(owner, installation, adoption, decider);
  });
  return { answer: { layer, evidence: shownEvidence(evidence), dry_run: false } };
};

/**
 * Requires an approval if the caller proposed one of the versions. It also requires one if a version reads a field of
 * high sensitivity, because analysts and investigators can read the values of the feature without a case. The approver
 * sees the evidence that was computed for the request.
 */
async function approvalOf(
  ports: Ports<ApprovalPorts>,
  caller: Caller,
  { features, purpose, evidence, acceptsRefusals }: Adoption,
  isSensitive: boolean,
  reason: string,
): Promise<Approval | undefined> {
  // guard(true): a person who proposed a feature adopts it only with an approval
  if (!isSensitive && !(await isProposer(ports.pool, features, personsOfActor(caller.actor)))) return undefined;
  const parameters = { features, purpose: purpose.id, accept_refusals: acceptsRefusals, reason };
  const plan = { ...shownEvidence(evidence) };
  const needed: readonly Role[] = isSensitive ? ["privacy"] : ["analyst"];
  return requireApproval(ports, caller, { operation: "feature.adopt", parameters, plan, events: 0, needed }, reason);
}

export const retireFeatures: Operation<"retireFeatures", DecisionPorts> = async ({ ports, caller, input }) => {
  const reason = reasonOf(input.reason, ports.config);
  const purpose = await requirePurpose(ports, input.purpose);
  const { audit } = await openReplayed(ports.installation);
  const features = [...new Set(input.features)].toSorted();
  const ended = await inOwnerTransaction(ports.administration, (owner) =>
    recordRetirement(owner, audit, { features, purpose }, { ...agentOf(caller), reason }),
  );
  return { answer: { ended: [...ended] } };
};

/**
 * Writes an entry before a program is read or run, and before the first event is read, because the call may then be
 * rejected or fail.
 */
async function auditReading(
  call: OperationCall<"proposeFeatures" | "recordEquivalence" | "adoptFeatures", ReadingPorts>,
  id: RouteId,
  bundles: readonly Bundle[],
  furtherDetail: object = {},
): Promise<void> {
  const { ports, caller, input } = call;
  const { reason, dry_run = false } = input;
  // A dry run on the database itself writes nothing, because the database may be a standby.
  if (ports.access === "read") return;
  const programs = bundles.map((bundle) => ({ feature: nameOf(bundle), hash: bundle.hash }));
  const detail = { programs, ...furtherDetail, ...(dry_run && { dry_run }) };
  // guard(drop): a call that reads events leaves an audit entry, even if it fails
  await auditBegun({ ports, caller }, id, { reason: reasonOf(reason, ports.config), detail });
}

/**
 * Computes the evidence. It reads events with the owner's login, because no other login of the admin API may read
 * payloads without an audit entry for each.
 */
async function evidenceOf(
  ports: Ports<EvidencePorts>,
  bundles: readonly Bundle[],
  purpose?: number,
): Promise<Evidence> {
  const { sealer } = await ports.keys();
  const inputs = inputsOf(bundles.map(({ manifest }) => manifest));
  return withOwner(ports.administration, (executor) =>
    gatherEvidence({ executor, sealer, now: ports.clock.now(), ...(purpose !== undefined && { purpose }) }, inputs),
  );
}

const shownEvidence = ({ coverage, refused, ...evidence }: Evidence): Answer<"adoptFeatures">["evidence"] => ({
  ...evidence,
  coverage: coverage.map(({ states, ...row }) => ({ ...row, states: states as Record<string, number> })),
  refused: [...refused],
});

async function requirePurpose({ pool }: Ports<"pool">, id: string): Promise<Adoption["purpose"]> {
  return { code: await requirePurposeCode(pool, id), id };
}

export const listFeatureDecisions: Operation<"listFeatureDecisions", "pool"> = async ({ ports, input }) => {
  const decisions = await listDecisions(ports.pool, input.limit ?? LIMIT, input.feature);
  return { answer: { decisions }, audit: { detail: { count: decisions.length } } };
};

export const readLayers: Operation<"readLayers", "pool"> = async ({ ports }) => {
  const purposes = await readPurposeIds(ports.pool);
  const layers = (await listLayers(ports.pool)).map(({ purpose, members, ...layer }) => ({
    layer: layer.layer,
    purpose: purposes.get(purpose) ?? "",
    members: [...members],
    active_from: layer.active_from,
    ended_at: layer.ended_at,
  }));
  const { batches, lag_seconds } = await readDueState(ports.pool);
  return { answer: { layers, due_batches: batches, lag_seconds }, audit: { detail: { count: layers.length } } };
};

export const readFeatures: Operation<
  "readFeatures",
  "clock" | "installation.featureSealer" | "monotonic" | AuditPorts | ReplayedPorts
> = async (call) => {
  const { ports, input } = call;
  const { featureSealer } = await requireReplayedJournal(ports);
  const subject = subjectOf(input);
  const limit = input.limit ?? LIMIT;
  const opened = input.include_restricted ? await requireCase(call) : undefined;
  const options = { includeRestricted: opened !== undefined, after: input.after?.toLowerCase() };
  const until = ports.monotonic.now() + (input.wait_ms ?? 0);
  let listed = await listFeatures(ports.pool, subject, limit, options);
  while (listed.some(isPending) && ports.monotonic.now() < until) {
    await sleep(LOOK_EVERY_MS);
    listed = await listFeatures(ports.pool, subject, limit, options);
  }
  const { account, event_id, action_id } = input;
  if (listed.length === 0) {
    await auditNotFound(call, "readFeatures", {
      ...(account !== undefined && { account }),
      ...(event_id !== undefined && { eventIds: [event_id.toLowerCase()] }),
      ...(action_id !== undefined && { detail: { action_id } }),
    });
    if (input.after !== undefined) return { answer: { events: [], next: null } };
    throw new OperatorError("not-found", "No event that may be analysed is known of this subject.");
  }
  if (opened) await requireCovered(ports.pool, opened, listed);
  const rows = await revealListed(call, listed, opened);
  const events = await openListed({ executor: ports.pool, sealer: featureSealer }, listed, rows);
  return {
    answer: {
      events: events.map((event) => ({
        ...event,
        features: event.features.map((one) => ({ ...one, inputs: [...one.inputs] })),
      })),
      next: event_id === undefined && listed.length === limit ? (listed.at(-1)?.event_id ?? null) : null,
    },
  };
};

/** Reads the sealed values of events, with an audit entry for each of their accounts. */
async function revealListed(
  call: OperationCall<"readFeatures", AuditPorts>,
  listed: readonly ListedFeatures[],
  opened: CaseRow | undefined,
): Promise<readonly FeatureRow[]> {
  const revealed: FeatureRow[] = [];
  for (const [account, events] of Map.groupBy(listed, (event) => event.account)) {
    const entryId = await auditRevealed(call, "readFeatures", {
      // guard(drop): the entry names the account whose values are read
      account,
      eventIds: events.map((event) => event.event_id),
      ...(opened && whyOf(opened)),
    });
    const rows = events.flatMap((event) => event.rows);
    revealed.push(...(await revealFeatures(call.ports.pool, entryId, rows)));
  }
  return revealed;
}

/**
 * Finds the open case that a caller needs to read the values of restricted events.
 * @throws AdminError permission-missing, request-invalid, case-invalid
 */
async function requireCase({
  ports,
  caller,
  input,
}: OperationCall<"readFeatures", "clock" | "pool">): Promise<CaseRow> {
  // guard(false): a role that does not see restricted events does not see their values
  if (caller.via !== "direct" && !seesRestricted(caller)) {
    throw new AdminError("permission-missing", { detail: "Values of restricted events need the role privacy, too." });
  }
  const { case_id } = input;
  if (case_id === undefined) throw invalid("query", "include_restricted needs case_id");
  const openedCase = await findOpenCase(ports.pool, ports.clock, case_id, caller.person);
  if (!openedCase) throw new AdminError("case-invalid");
  return openedCase;
}

/** Counts the events as opened in the case. @throws AdminError case-invalid if the case does not cover all of them. */
async function requireCovered(pool: Executor, opened: CaseRow, events: readonly ListedFeatures[]): Promise<void> {
  const isWithin = events.every(({ account, action_id: actionId, event_id: eventId }) =>
    isCovered(opened, { account, actionId, eventId }),
  );
  // guard(false): a case shows values of what it covers
  if (!isWithin) throw new AdminError("case-invalid");
  await addOpenedEvents(pool, opened.case_id, events.length);
}

const whyOf = ({ case_id, category, reason, ticket }: CaseRow) => ({
  caseId: case_id,
  category,
  reason,
  ...(ticket !== null && { ticket }),
  detail: { include_restricted: true },
});

function subjectOf({ event_id, action_id, account }: OperationCall<"readFeatures">["input"]) {
  const givenFilters = [event_id, action_id, account].filter((value) => value !== undefined);
  if (givenFilters.length !== 1) throw invalid("query", "one of event_id, action_id and account says what is read");
  if (event_id !== undefined) return { eventId: event_id.toLowerCase() };
  return action_id === undefined ? { account: account ?? "" } : { actionId: action_id };
}
