import { Type } from "typebox";
import { decision, equivalentProgram, evidence, featureName, featureValue, purpose } from "../feature-schemas.ts";
import type { Route } from "../route.ts";
import {
  account,
  actionId,
  count,
  dryRun,
  eventId,
  limit,
  next,
  nonEmptyText,
  nullable,
  object,
  reason,
  shape,
  shownText,
  uuid,
} from "../schemas.ts";

const TAG = "Features";

/** Enough for the bundles of several hundred features. */
const MAX_BUNDLES_BYTES = 8_388_608;

const featureNames = Type.Array(featureName, { minItems: 1, maxItems: 500 });
const layer = shape("Layer", {
  layer: count(),
  purpose: shownText(),
  members: Type.Array(shownText()),
  active_from: shownText(),
  ended_at: nullable(shownText()),
});

const featuresOfEvent = shape("FeaturesOfEvent", {
  event_id: shownText(),
  received_at: shownText(),
  account: shownText(),
  action_id: shownText(),
  purpose: shownText(),
  status: Type.Enum(["computed", "pending", "excluded"], {
    description:
      "`computed`: every active layer has a row; `pending`: one is due; `excluded`: none is computed, for `reason`.",
  }),
  reason: nullable(
    shownText(
      "`no-layer`: no feature is adopted for the purpose; `before-adoption`: the event was received earlier; `not-computed`: it was restricted when it was due, or its derived_retention was over, and no backfill has computed it; or the error of the computation. If the status is `computed`: the reason why a layer has no values or can't be opened.",
    ),
  ),
  sha256: nullable(shownText("SHA-256 of the exact bytes of the event, in hexadecimal.")),
  features: Type.Array(
    shape("FeatureValue", {
      feature: shownText("`id@version`."),
      state: shownText("`observed`, or why there is no value."),
      value: featureValue,
      failure: nullable(shownText("Why its definition gave no result.")),
      inputs: Type.Array(shownText(), { description: "The state of each input, in the order of the manifest." }),
      layer: count(),
      extracted_at: shownText(),
    }),
  ),
});

const bundles = Type.Array(
  shape("Bundle", {
    id: nonEmptyText(64, "Id of the feature."),
    version: Type.Integer({ minimum: 1, maximum: 999_999_999 }),
    hash: nonEmptyText(64, "SHA-256 of the identity, in hexadecimal."),
    text: Type.String({ minLength: 1, maxLength: 1_048_576, description: "The program." }),
    manifest: Type.Unknown({ description: "The manifest." }),
    fixtures: Type.Optional(Type.Unknown({ description: "The content of its file of fixtures." })),
  }),
  { minItems: 1, maxItems: 500 },
);

export const FEATURE_ROUTES = {
  proposeFeatures: {
    method: "POST",
    path: "/features/propose",
    tag: TAG,
    summary: "Propose versions of features: archives their bundles with evidence about their inputs",
    permission: "features.propose",
    operation: "feature.propose",
    breakGlass: true,
    access: "change",
    appliedBy: "worker",
    maxBodyBytes: MAX_BUNDLES_BYTES,
    body: object({
      bundles,
      reason,
      dry_run: dryRun,
    }),
    answer: object({
      proposed: Type.Array(shownText(), { description: "Versions that were not archived yet." }),
      evidence,
      dry_run: Type.Boolean(),
    }),
    problems: ["state-conflict"],
  },
  recordEquivalence: {
    method: "POST",
    path: "/features/equivalent",
    tag: TAG,
    summary: "Record that programs give the same values as the archived programs of their versions",
    description:
      "Computes both for all stored events of the purposes of the definitions and for the archived fixtures, and records " +
      "nothing if one result differs. A rejection names no event, and does not say which of several programs differs " +
      "for events. The archived programs continue to run.",
    permission: "features.propose",
    operation: "feature.equivalent",
    breakGlass: true,
    access: "change",
    appliedBy: "worker",
    maxBodyBytes: MAX_BUNDLES_BYTES,
    body: object({
      bundles,
      reason,
      dry_run: dryRun,
    }),
    answer: object({
      programs: Type.Array(equivalentProgram, { description: "Programs that differ from the archived ones." }),
      unreadable: count("Events that can't be opened."),
      dry_run: Type.Boolean(),
    }),
    problems: ["not-found", "state-conflict"],
  },
  adoptFeatures: {
    method: "POST",
    path: "/features/adopt",
    tag: TAG,
    summary: "Adopt versions of features for a purpose: they are computed from then on",
    description:
      "Their inputs become adopted fields on every server within 2 s. The adoption is rejected if ingestion would have rejected more " +
      "than a thousandth of an SDK version's events of the last 7 days, unless `accept_refusals` is true. A person who proposed one of the versions " +
      "needs the approval of another analyst.",
    permission: "features.decide",
    operation: "feature.adopt",
    breakGlass: true,
    access: "change",
    appliedBy: "worker",
    body: object({
      features: featureNames,
      purpose,
      reason,
      accept_refusals: Type.Optional(Type.Boolean({ default: false })),
      dry_run: dryRun,
    }),
    answer: object({ layer: nullable(count("The new layer; null for a dry run.")), evidence, dry_run: Type.Boolean() }),
    problems: ["not-found", "state-conflict"],
  },
  retireFeatures: {
    method: "POST",
    path: "/features/retire",
    tag: TAG,
    summary: "Retire versions of features for a purpose: they are no longer computed, and their values stay",
    permission: "features.decide",
    operation: "feature.retire",
    access: "change",
    appliedBy: "worker",
    body: object({ features: featureNames, purpose, reason }),
    answer: object({ ended: Type.Array(count(), { description: "The layers that ended." }) }),
    problems: ["not-found", "state-conflict"],
  },
  listFeatureDecisions: {
    method: "GET",
    path: "/features/decisions",
    tag: TAG,
    summary: "Decisions about features, newest first",
    permission: "features.governance",
    operation: "feature.decisions",
    access: "read",
    query: object({ feature: Type.Optional(featureName), limit }),
    answer: object({
      decisions: Type.Array(decision),
    }),
  },
  readLayers: {
    method: "GET",
    path: "/features/layers",
    tag: TAG,
    summary: "Layers of features, and what is due",
    permission: "features.governance",
    operation: "feature.layers",
    access: "read",
    answer: object({
      layers: Type.Array(layer),
      due_batches: count("Commit batches whose features are not computed yet."),
      lag_seconds: Type.Number({ description: "Seconds since the oldest of them was stored." }),
    }),
  },
  readFeatures: {
    method: "GET",
    path: "/features",
    tag: TAG,
    summary: "Features of an event, an action or an account, newest event first",
    description:
      "One of `event_id`, `action_id` and `account` says which. Restricted events, and values that only a hold keeps, are " +
      "left out unless `include_restricted` is true: that needs the role `privacy`, too, and a case that covers them.",
    permission: "features.read",
    operation: "feature.read",
    access: "audited-read",
    query: object({
      event_id: Type.Optional(eventId),
      action_id: Type.Optional(actionId),
      account: Type.Optional(account),
      wait_ms: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 5_000,
          default: 0,
          description: "How long it waits for pending features.",
        }),
      ),
      include_restricted: Type.Optional(Type.Boolean({ default: false })),
      case_id: Type.Optional(uuid("An open case of the caller that covers the events.")),
      limit,
      after: Type.Optional(uuid("`next` of the page before.")),
    }),
    answer: object({ events: Type.Array(featuresOfEvent), next }),
    problems: ["not-found", "case-invalid"],
  },
} as const satisfies Readonly<Record<string, Route>>;
