import { Type } from "typebox";
import type { Route } from "../route.ts";
import {
  account,
  actionId,
  count,
  dryRun,
  eventId,
  limit,
  nullable,
  object,
  reason,
  shownText,
  text,
  time,
  uuid,
} from "../schemas.ts";

const TAG = "Features";

/** Bundles of some hundred features. */
const MAX_BUNDLES_BYTES = 8_388_608;

const featureName = Type.String({
  pattern: "^[a-z][a-z0-9_]{0,63}@[1-9][0-9]{0,8}$",
  description: "A version of a feature, `id@version`.",
});
const featureNames = Type.Array(featureName, { minItems: 1, maxItems: 500 });
const purpose = text(64, "Purpose, by its id.");

const ofVersion = { platform: shownText(), sdk_version: shownText() };
const evidence = object({
  days: count("Days before the decision."),
  events: count("Events that were read, the newest."),
  is_limited: Type.Boolean({ description: "Whether there are more events in these days." }),
  coverage: Type.Array(
    object({
      ...ofVersion,
      field: shownText("An input."),
      states: Type.Record(Type.String(), count(), { description: "How often it had each state." }),
    }),
  ),
  refused: Type.Array(
    object({ ...ofVersion, events: count(), refused: count("Events that ingestion would have refused.") }),
  ),
});

const decision = object({
  decision: count(),
  kind: shownText(),
  features: Type.Array(shownText()),
  purpose: nullable(shownText()),
  decided_at: shownText(),
  decided_by: shownText(),
  reason: shownText(),
  evidence: Type.Unknown({ description: "What was known then about the inputs." }),
});

const value = Type.Union([Type.Boolean(), Type.Number(), Type.String(), Type.Null()]);

const explanation = object({
  feature: shownText("`id@version`."),
  state: shownText("`observed`, or why there is no value."),
  value,
  is_value_withheld: Type.Boolean({ description: "Whether the caller's roles may not read values." }),
  failure: nullable(shownText("Why its definition gave no result.")),
  inputs: Type.Array(object({ name: shownText(), field: shownText(), state: shownText() })),
  sha256: shownText("SHA-256 of the exact bytes of the event, in hexadecimal."),
  layer: count(),
  extracted_at: shownText(),
  meaning: shownText(),
  false_readings: Type.Array(shownText()),
  owner: shownText(),
  hash: shownText("Of the archived program, its inputs and its output."),
  program: nullable(shownText("The archived program, where `program` asks for it.")),
  proposed: nullable(decision),
  adopted: nullable(decision),
  retired: nullable(decision),
  attestation: nullable(
    object({
      partition_id: shownText(),
      attested_at: shownText(),
      is_included: Type.Boolean({
        description: "Whether the row was recomputed, and equal, before its event expired.",
      }),
      statement: shownText("What was attested of the partition and the layer: a signed receipt."),
    }),
  ),
});

const layer = object({
  layer: count(),
  purpose: shownText(),
  members: Type.Array(shownText()),
  active_from: shownText(),
  ended_at: nullable(shownText()),
});

const featuresOfEvent = object({
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
      "`no-layer`: no feature is adopted for the purpose; `before-adoption`: the event was received earlier; or why the computation failed.",
    ),
  ),
  sha256: nullable(shownText("SHA-256 of the exact bytes of the event, in hexadecimal.")),
  features: Type.Array(
    object({
      feature: shownText("`id@version`."),
      state: shownText("`observed`, or why there is no value."),
      value,
      failure: nullable(shownText("Why its definition gave no result.")),
      inputs: Type.Array(shownText(), { description: "The state of each input, in the order of the manifest." }),
      layer: count(),
      extracted_at: shownText(),
    }),
  ),
});

const backfill = object({
  run_id: shownText(),
  purpose: shownText("Purpose, by its id."),
  layers: Type.Array(count()),
  from: shownText(),
  to: shownText(),
  rate: nullable(count("Maximum number of events per second.")),
  state: Type.Enum(["running", "paused", "cancelled", "done"]),
  started_at: shownText(),
  started_by: shownText(),
  reason: shownText(),
  ended_at: nullable(shownText()),
  events: count("Events of its chunks."),
  computed: count("Events of these that were visited."),
  remaining_seconds: nullable(Type.Number({ description: "Null while it is not known." })),
  balance: object({
    live: count("Events in each layer, of the chunks that are balanced."),
    stored: count("Of these, with a row of features."),
    erased: count("Of these, erased meanwhile."),
    expired: count("Of these, kept by a hold alone or not deleted yet."),
    restricted: count("Of these, restricted."),
    unreadable: count("Of these, that can't be opened."),
    failed: count("Of these, whose computation failed."),
    missing: count("Of these, the others: 0 unless something is wrong."),
  }),
});
const ofBackfill = { params: object({ run_id: uuid("Id of the backfill.") }) };
const changeOfBackfill = {
  ...ofBackfill,
  method: "POST",
  tag: TAG,
  permission: "backfills.manage",
  access: "change",
  answer: backfill,
  problems: ["not-found", "state-conflict"],
} as const;

export const FEATURE_ROUTES = {
  proposeFeatures: {
    method: "POST",
    path: "/features/propose",
    tag: TAG,
    summary: "Propose versions of features: archives their bundles with evidence about their inputs",
    permission: "features.propose",
    operation: "feature.propose",
    access: "change",
    maxBodyBytes: MAX_BUNDLES_BYTES,
    body: object({
      bundles: Type.Array(
        object({
          id: text(64, "Id of the feature."),
          version: Type.Integer({ minimum: 1, maximum: 999_999_999 }),
          hash: text(64, "SHA-256 of the identity, in hexadecimal."),
          text: Type.String({ minLength: 1, maxLength: 1_048_576, description: "The program." }),
          manifest: Type.Unknown({ description: "The manifest." }),
          fixtures: Type.Optional(Type.Unknown({ description: "The content of its file of fixtures." })),
        }),
        { minItems: 1, maxItems: 500 },
      ),
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
  adoptFeatures: {
    method: "POST",
    path: "/features/adopt",
    tag: TAG,
    summary: "Adopt versions of features for a purpose: they are computed from then on",
    description:
      "Their inputs become adopted fields on every server within 2 s. Refused where ingestion would have refused more " +
      "than a thousandth of an SDK version's events of the last 7 days, unless `accept_refusals` is true. Another person than the one who proposed a version adopts it.",
    permission: "features.decide",
    operation: "feature.adopt",
    access: "change",
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
    summary: "Retire versions of features for a purpose: they are computed no more, and their values stay",
    permission: "features.decide",
    operation: "feature.retire",
    access: "change",
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
  startBackfill: {
    method: "POST",
    path: "/features/backfills",
    tag: TAG,
    summary: "Start a backfill: workers compute the features of stored events",
    permission: "backfills.manage",
    operation: "backfill.start",
    access: "change",
    body: object({
      purpose,
      layer: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "An active layer of it; by default all." }),
      ),
      from: Type.Optional(time("Events received at or after this time.")),
      to: Type.Optional(time("Events received before this time; by default the present.")),
      rate: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1_000_000, description: "Maximum number of events per second." }),
      ),
      reason,
    }),
    answer: backfill,
    problems: ["not-found"],
  },
  listBackfills: {
    method: "GET",
    path: "/features/backfills",
    tag: TAG,
    summary: "Backfills, newest first, with their progress and their balance",
    permission: "backfills.read",
    operation: "backfill.list",
    access: "read",
    query: object({ run_id: Type.Optional(uuid("Id of one backfill.")), limit }),
    answer: object({ backfills: Type.Array(backfill) }),
    problems: ["not-found"],
  },
  pauseBackfill: {
    ...changeOfBackfill,
    path: "/features/backfills/{run_id}/pause",
    summary: "Pause a backfill",
    operation: "backfill.pause",
  },
  resumeBackfill: {
    ...changeOfBackfill,
    path: "/features/backfills/{run_id}/resume",
    summary: "Resume a paused backfill where it was",
    operation: "backfill.resume",
  },
  cancelBackfill: {
    ...changeOfBackfill,
    path: "/features/backfills/{run_id}/cancel",
    summary: "Cancel a backfill; what it stored stays",
    operation: "backfill.cancel",
  },
  readFeatures: {
    method: "GET",
    path: "/features",
    tag: TAG,
    summary: "Features of an event, an action or an account, newest event first",
    description: "One of `event_id`, `action_id` and `account` says which. Restricted events are left out.",
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
      limit,
    }),
    answer: object({ events: Type.Array(featuresOfEvent) }),
    problems: ["not-found"],
  },
  explainFeature: {
    method: "GET",
    path: "/features/explain",
    tag: TAG,
    summary: "Where a value of a feature comes from, also after its event has expired",
    description:
      "Value, states of the inputs, fingerprint of the event, code, decisions with their evidence. For the role auditor " +
      "without the value. Of an erased event or account there are the receipts of its erasures only.",
    permission: "features.explain",
    operation: "feature.explain",
    access: "audited-read",
    query: object({
      event_id: eventId,
      feature: Type.String({
        pattern: "^[a-z][a-z0-9_]{0,63}(@[1-9][0-9]{0,8})?$",
        description: "A feature, `id`, or a version of it, `id@version`.",
      }),
      program: Type.Optional(Type.Boolean({ default: false, description: "Whether to answer the program, too." })),
    }),
    answer: object({
      event_id: shownText(),
      status: Type.Enum(["computed", "erased"]),
      event: nullable(
        object({
          received_at: shownText(),
          purpose: shownText(),
          platform: shownText(),
          sdk_version: shownText(),
          app_version: shownText(),
          schema_version: count(),
          is_stored: Type.Boolean({ description: "Whether the event itself has not expired." }),
        }),
      ),
      values: Type.Array(explanation, { description: "One for each layer with the feature, the newest layer first." }),
      erasures: Type.Array(
        object({
          erasure_id: shownText(),
          kind: shownText("`account` or `event`."),
          began_at: shownText(),
          finished_at: nullable(shownText()),
          receipt: nullable(shownText("The signed receipt; null until the erasure is finished.")),
        }),
      ),
    }),
    problems: ["not-found"],
  },
  verifyFeatures: {
    method: "GET",
    path: "/features/verify",
    tag: TAG,
    summary: "Compute stored values again, and archived fixtures on two engines",
    description:
      "Of one event, or of all events that have not expired and may be analysed. Each value is computed by the archived " +
      "program under the policy of its time. The answer names states, and no value.",
    permission: "features.explain",
    operation: "feature.verify",
    access: "audited-read",
    appliedBy: "worker",
    query: object({
      event_id: Type.Optional(eventId),
      from: Type.Optional(time("Only events that were received at or after this time.")),
      to: Type.Optional(time("Only events that were received before this time.")),
      purpose: Type.Optional(purpose),
    }),
    answer: object({
      events: count("Events that were read."),
      rows: count("Rows of their values: one for each event and layer."),
      equal: count(),
      different: count(),
      undecided: count("Rows that can't be opened, or whose definition took too long."),
      differences: Type.Array(
        object({
          event_id: shownText(),
          layer: count(),
          feature: shownText(),
          stored: shownText("The stored state."),
          computed: shownText("The state now; `other-event` where the fingerprint of the event differs."),
        }),
        { description: "The first 100." },
      ),
      programs: Type.Array(
        object({
          feature: shownText("A version that was ever adopted."),
          cases: count("Results on each engine; 0 where no fixtures were proposed."),
          problems: Type.Array(shownText()),
        }),
      ),
    }),
    problems: ["not-found"],
  },
  listAttestations: {
    method: "GET",
    path: "/features/attestations",
    tag: TAG,
    summary: "What was recomputed of stored values before their events expired, newest partition first",
    permission: "features.governance",
    operation: "feature.attestations",
    access: "read",
    query: object({ limit }),
    answer: object({
      attestations: Type.Array(
        object({
          partition_id: shownText("Partition of events."),
          layer: count(),
          purpose: shownText(),
          lower_bound: shownText("Its events were received at or after this time."),
          upper_bound: shownText("Its events were received before this time."),
          rows: count("Rows of values that were recomputed."),
          equal: count("Of these, rows that the events gave again."),
          root: shownText("Root of a Merkle tree (RFC 6962) over the equal rows, in hexadecimal."),
          attested_at: shownText(),
          statement: shownText("The signed receipt that says so."),
        }),
      ),
    }),
  },
  verifyAttestations: {
    method: "GET",
    path: "/features/attestations/verify",
    tag: TAG,
    summary: "Check signature and root of attestations, and the rows that are left",
    permission: "features.governance",
    operation: "feature.verify-attestations",
    access: "audited-read",
    query: object({ partition_id: Type.Optional(uuid("Partition of events.")), limit }),
    answer: object({
      attestations: Type.Array(
        object({
          partition_id: shownText(),
          layer: count(),
          rows: count(),
          equal: count(),
          is_signed: Type.Boolean(),
          is_root_right: Type.Boolean(),
          found: count("Rows that are left: not erased, not restricted, not expired."),
          included: count("Of these, rows that the root is over."),
          unreadable: count("Rows that can't be opened."),
          holds: Type.Boolean({ description: "Whether nothing was changed." }),
        }),
      ),
    }),
    problems: ["not-found"],
  },
  compareFeatures: {
    method: "GET",
    path: "/features/compare",
    tag: TAG,
    summary: "Compute two versions of a feature for the same stored events",
    description:
      "Counts of results by platform and SDK version. Numbers below 10 are suppressed, and further ones that would tell " +
      "them; an open case of the caller shows all.",
    permission: "features.read",
    operation: "feature.compare",
    access: "audited-read",
    appliedBy: "worker",
    query: object({
      before: featureName,
      after: featureName,
      purpose,
      from: Type.Optional(time("Only events that were received at or after this time.")),
      case_id: Type.Optional(uuid("An open case of the caller.")),
    }),
    answer: object({
      before: shownText(),
      after: shownText(),
      purpose: shownText(),
      from: nullable(shownText()),
      is_exact: Type.Boolean({ description: "Whether no cell is suppressed." }),
      events: count("Events that both versions were computed of."),
      undecided: count("Events that can't be opened, or that a version took too long for."),
      cells: Type.Array(
        object({
          platform: shownText(),
          sdk_version: shownText(),
          before: shownText("A state, or `observed` with the group of the value."),
          after: shownText(),
          events: nullable(count("Null where it is suppressed.")),
        }),
      ),
    }),
    problems: ["not-found", "state-conflict", "case-invalid"],
  },
} as const satisfies Readonly<Record<string, Route>>;
