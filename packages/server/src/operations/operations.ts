import { exportAccount } from "./account-export.ts";
import { listActions, registerAction, revokeAction } from "./actions.ts";
import { issueAdminToken, listAdminTokens, revokeAdminToken, revokeAdminTokensOf } from "./admin-tokens.ts";
import { approve, deny, listApprovals, readApproval, withdrawApproval } from "./approvals.ts";
import { listAttestations, verifyAttestations } from "./attestations.ts";
import { listAudit } from "./audit.ts";
import {
  exportAudit,
  readAuditKey,
  readProof,
  readVerification,
  signCheckpoint,
  startVerification,
} from "./audit-log.ts";
import { reviewReads } from "./review-reads.ts";
import { closeCase, listCases, openCase } from "./cases.ts";
import { compareFeatures } from "./compare-features.ts";
import { cancelBackfill, listBackfills, pauseBackfill, resumeBackfill, startBackfill } from "./backfills.ts";
import { compareEvents, listEvents, readEvent, readExactEvent, readObservations } from "./events.ts";
import { listOutcomes, listRejections } from "./counters.ts";
import { explainFeature } from "./explain-feature.ts";
import { acceptDrift, classifyDrift, ignoreDrift, listDrift, readDrift, readOverlay, rejectDrift } from "./drift.ts";
import {
  adoptFeatures,
  listFeatureDecisions,
  proposeFeatures,
  recordEquivalence,
  readFeatures,
  readLayers,
  retireFeatures,
} from "./features.ts";
import { applyPolicy, listPurposes, readProcessingRecord } from "./purposes.ts";
import { readConfiguration, readHealth } from "./health.ts";
import { acknowledgeRecalls, exportFeatures, listExports, readExport, readRecalls, repeatExport } from "./exports.ts";
import { exportEvents } from "./export-events.ts";
import { addHold, liftHold, listHolds, reviewHold } from "./holds.ts";
import { acceptJournalLoss, listErasures, planErasure, runErasure } from "./erasures.ts";
import { acceptKeyLoss, destroyKey, listKeys, rotateKeys } from "./keys.ts";
import { readReceipt, readReceiptKey } from "./receipts.ts";
import { addRequest, closeRequest, extendRequest, listRequests } from "./requests.ts";
import { addRestriction, liftRestriction, listRestrictions } from "./restrictions.ts";
import { readOverdue, readRetention, runRetention } from "./retention.ts";
import { issueToken, listTokens, revokeToken } from "./session-tokens.ts";
import { listSessions, readSession, revokeSession, revokeSessionsOf, signOut } from "./session.ts";
import { closeReview, listReviews, openReview } from "./reviews.ts";
import { readTimeline } from "./timeline.ts";
import { verifyFeatures } from "./verify-features.ts";
import type { RouteId } from "@device-risk-signals/admin-api";
import type { Operation, Operations } from "./operation.ts";
import type { PortName } from "./ports.ts";

/** The operation of each route. */
export const OPERATIONS: Operations = {
  readSession,
  signOut,
  listSessions,
  revokeSession,
  revokeSessionsOf,
  readHealth,
  readConfiguration,
  listEvents,
  readEvent,
  readObservations,
  compareEvents,
  readExactEvent,
  openCase,
  listCases,
  closeCase,
  listApprovals,
  readApproval,
  approve,
  withdrawApproval,
  deny,
  listAudit,
  reviewReads,
  exportAudit,
  readProof,
  signCheckpoint,
  readAuditKey,
  startVerification,
  readVerification,
  listReviews,
  openReview,
  closeReview,
  listAdminTokens,
  issueAdminToken,
  revokeAdminToken,
  revokeAdminTokensOf,
  listTokens,
  issueToken,
  revokeToken,
  listActions,
  registerAction,
  revokeAction,
  listPurposes,
  readProcessingRecord,
  applyPolicy,
  listDrift,
  readDrift,
  readOverlay,
  acceptDrift,
  classifyDrift,
  ignoreDrift,
  rejectDrift,
  proposeFeatures,
  recordEquivalence,
  adoptFeatures,
  retireFeatures,
  listFeatureDecisions,
  readLayers,
  startBackfill,
  listBackfills,
  pauseBackfill,
  resumeBackfill,
  cancelBackfill,
  readFeatures,
  explainFeature,
  verifyFeatures,
  listAttestations,
  verifyAttestations,
  compareFeatures,
  exportFeatures,
  repeatExport,
  exportEvents,
  listExports,
  readExport,
  readRecalls,
  acknowledgeRecalls,
  listOutcomes,
  listRejections,
  readTimeline,
  listHolds,
  addHold,
  reviewHold,
  liftHold,
  listRestrictions,
  addRestriction,
  liftRestriction,
  readReceiptKey,
  readReceipt,
  readOverdue,
  runRetention,
  readRetention,
  listRequests,
  addRequest,
  extendRequest,
  closeRequest,
  exportAccount,
  listErasures,
  planErasure,
  runErasure,
  acceptJournalLoss,
  listKeys,
  rotateKeys,
  destroyKey,
  acceptKeyLoss,
};

const ALL: { readonly [Id in RouteId]: Operation<Id, PortName> } = OPERATIONS;

export const operationOf = <Id extends RouteId>(id: Id): Operation<Id, PortName> => ALL[id];
