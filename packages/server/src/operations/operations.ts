import type { RouteId } from "@device-risk-signals/admin-api";
import type { Operation, OperationCall, OperationResult, Operations } from "./operation.ts";
import type { PortName } from "./ports.ts";

type Load<Id extends RouteId> = () => Promise<Pick<Operations, Id>>;
type Modules<Ids extends RouteId> = { readonly [Id in Ids]: Load<Id> };

/** Operations of a module that is loaded when one of them is called: a command needs one module of forty. */
const from = <const Id extends RouteId>(load: Load<Id>, ...ids: readonly Id[]): Modules<Id> =>
  Object.fromEntries(ids.map((id) => [id, load])) as Record<Id, Load<Id>>;

/** The module of the operation of each route. The operation has the name of the route. */
const MODULES: Modules<RouteId> = {
  ...from(() => import("./session.ts"), "readSession", "signOut", "listSessions", "revokeSession", "revokeSessionsOf"),
  ...from(() => import("./health.ts"), "readHealth", "readConfiguration"),
  ...from(
    () => import("./events.ts"),
    "listEvents",
    "readEvent",
    "readObservations",
    "compareEvents",
    "readExactEvent",
  ),
  ...from(() => import("./cases.ts"), "openCase", "listCases", "closeCase"),
  ...from(() => import("./approvals.ts"), "listApprovals", "readApproval", "approve", "withdrawApproval", "deny"),
  ...from(() => import("./audit.ts"), "listAudit"),
  ...from(() => import("./review-reads.ts"), "reviewReads"),
  ...from(
    () => import("./audit-log.ts"),
    "exportAudit",
    "readProof",
    "signCheckpoint",
    "readAuditKey",
    "startVerification",
    "readVerification",
  ),
  ...from(() => import("./reviews.ts"), "listReviews", "openReview", "closeReview"),
  ...from(
    () => import("./admin-tokens.ts"),
    "listAdminTokens",
    "issueAdminToken",
    "revokeAdminToken",
    "revokeAdminTokensOf",
  ),
  ...from(() => import("./session-tokens.ts"), "listTokens", "issueToken", "revokeToken"),
  ...from(() => import("./actions.ts"), "listActions", "registerAction", "revokeAction"),
  ...from(() => import("./purposes.ts"), "listPurposes", "readProcessingRecord", "applyPolicy"),
  ...from(
    () => import("./drift.ts"),
    "listDrift",
    "readDrift",
    "readOverlay",
    "acceptDrift",
    "classifyDrift",
    "ignoreDrift",
    "rejectDrift",
  ),
  ...from(
    () => import("./features.ts"),
    "proposeFeatures",
    "recordEquivalence",
    "adoptFeatures",
    "retireFeatures",
    "listFeatureDecisions",
    "readLayers",
    "readFeatures",
  ),
  ...from(
    () => import("./backfills.ts"),
    "startBackfill",
    "listBackfills",
    "pauseBackfill",
    "resumeBackfill",
    "cancelBackfill",
  ),
  ...from(() => import("./explain-feature.ts"), "explainFeature"),
  ...from(() => import("./verify-features.ts"), "verifyFeatures"),
  ...from(() => import("./attestations.ts"), "listAttestations", "verifyAttestations"),
  ...from(() => import("./compare-features.ts"), "compareFeatures"),
  ...from(
    () => import("./exports.ts"),
    "exportFeatures",
    "repeatExport",
    "listExports",
    "readExport",
    "readRecalls",
    "acknowledgeRecalls",
  ),
  ...from(() => import("./export-events.ts"), "exportEvents"),
  ...from(() => import("./counters.ts"), "listOutcomes", "listRejections"),
  ...from(() => import("./timeline.ts"), "readTimeline"),
  ...from(() => import("./holds.ts"), "listHolds", "addHold", "reviewHold", "liftHold"),
  ...from(() => import("./restrictions.ts"), "listRestrictions", "addRestriction", "liftRestriction"),
  ...from(() => import("./receipts.ts"), "readReceiptKey", "readReceipt"),
  ...from(() => import("./retention.ts"), "readOverdue", "runRetention", "readRetention"),
  ...from(() => import("./requests.ts"), "listRequests", "addRequest", "extendRequest", "closeRequest"),
  ...from(() => import("./account-export.ts"), "exportAccount"),
  ...from(() => import("./erasures.ts"), "listErasures", "planErasure", "runErasure", "acceptJournalLoss"),
  ...from(() => import("./keys.ts"), "listKeys", "rotateKeys", "destroyKey", "acceptKeyLoss"),
};

/** Loads the operations of routes, for a process that later may find the files of another release. */
export async function loadOperations(ids: readonly RouteId[]): Promise<void> {
  await Promise.all(ids.map((id) => MODULES[id]()));
}

/** Loads the operation of a route, and calls it. */
export async function callOperation<Id extends RouteId>(id: Id, call: OperationCall<Id>): Promise<OperationResult<Id>> {
  const operations: { readonly [I in Id]: Operation<I, PortName> } = await MODULES[id]();
  return operations[id](call);
}
