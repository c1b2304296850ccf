import { Type } from "typebox";
import { decision, featureName, featureValue, purpose } from "../feature-schemas.ts";
import type { Route } from "../route.ts";
import {
  count,
  erasureWithReceipt,
  eventId,
  next,
  nullable,
  object,
  page,
  SENSITIVITIES,
  shape,
  shownText,
  time,
  uuid,
} from "../schemas.ts";

const TAG = "Features";

const explanation = shape("Explanation", {
  feature: shownText("`id@version`."),
  state: shownText("`observed`, or why there is no value."),
  value: featureValue,
  is_value_withheld: Type.Boolean({ description: "Whether the caller's roles may not read values." }),
  failure: nullable(shownText("Why its definition gave no result.")),
  inputs: Type.Array(shape("ReadInput", { name: shownText(), field: shownText(), state: shownText() })),
  sha256: shownText("SHA-256 of the exact bytes of the event, in hexadecimal."),
  layer: count(),
  extracted_at: shownText(),
  meaning: shownText(),
  false_readings: Type.Array(shownText()),
  owner: shownText(),
  hash: shownText("SHA-256 of the archived program, its inputs and its output."),
  program: nullable(shownText("The archived program, if `program` asks for it.")),
  proposed: nullable(decision),
  adopted: nullable(decision),
  retired: nullable(decision),
  attestation: nullable(
    shape("Attested", {
      partition_id: shownText(),
      attested_at: shownText(),
      is_included: Type.Boolean({
        description:
          "Whether the row was recomputed with an equal result before its event expired. If not, it was restricted, " +
          "could not be read, or its result was different.",
      }),
      statement: shownText("What was attested of the partition and the layer: a signed receipt."),
    }),
  ),
});

/** Where stored values come from, and whether they are right. */
const shares = Type.Array(
  shape("FeatureShare", {
    name: shownText("A state, or a group of values."),
    events: nullable(count("Rounded down to tens; null from 1 to 9.")),
    share: nullable(
      Type.Number({
        description: "From 0 to 1, of the events; of values, of the observed ones. Null if these are fewer than 100.",
      }),
    ),
  }),
);
const results = {
  events: nullable(count("Rounded down to tens; null from 1 to 9, and then without states and values.")),
  states: shares,
  values: shares,
};

export const FEATURE_LINEAGE_ROUTES = {
  explainFeature: {
    method: "GET",
    path: "/features/explain",
    tag: TAG,
    summary: "Where a value of a feature comes from, also after its event has expired",
    description:
      "Value, states of the inputs, fingerprint of the event, code, decisions with their evidence. The role " +
      "auditor does not see the value. For an erased event or account, the answer has only the receipts of its erasures, for " +
      "callers who may read erasures; for others the event does not exist.",
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
        shape("ExplainedEvent", {
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
      erasures: Type.Array(erasureWithReceipt),
    }),
    problems: ["not-found"],
  },
  verifyFeatures: {
    method: "GET",
    path: "/features/verify",
    tag: TAG,
    summary: "Compute stored values again, and archived fixtures on two engines",
    description:
      "Checks one event, or all events that have not expired and may be analysed. Each value is computed by the archived " +
      "program under the policy of its time. The answer names states, and no value.",
    permission: "features.explain",
    operation: "feature.verify",
    breakGlass: true,
    access: "audited-read",
    appliedBy: "worker",
    isRepeatable: true,
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
        shape("ValueDifference", {
          event_id: shownText(),
          layer: count(),
          feature: shownText(),
          stored: shownText("The stored state."),
          computed: shownText("The state now; `other-event` where the fingerprint of the event differs."),
        }),
        { description: "The first 100." },
      ),
      programs: Type.Array(
        shape("VerifiedProgram", {
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
    query: object(page),
    answer: object({
      attestations: Type.Array(
        shape("Attestation", {
          partition_id: shownText("Partition of events."),
          layer: count(),
          purpose: shownText(),
          lower_bound: shownText("Its events were received at or after this time."),
          upper_bound: shownText("Its events were received before this time."),
          rows: count("Rows of values that were recomputed."),
          equal: count("Of these, rows for which the events gave the same values again."),
          root: shownText("Root of a Merkle tree (RFC 6962) over the equal rows, in hexadecimal."),
          attested_at: shownText(),
          statement: shownText("The signed receipt that says so."),
        }),
      ),
      next,
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
    appliedBy: "worker",
    isRepeatable: true,
    query: object({ partition_id: Type.Optional(uuid("Partition of events.")), ...page }),
    answer: object({
      attestations: Type.Array(
        shape("VerifiedAttestation", {
          partition_id: shownText(),
          layer: count(),
          rows: count(),
          equal: count(),
          is_signed: Type.Boolean(),
          is_root_right: Type.Boolean(),
          found: count("Rows that are left: not erased, not restricted, not expired."),
          included: count("Of these, rows that the root covers."),
          unreadable: count("Rows that can't be opened."),
          holds: Type.Boolean({ description: "Whether nothing was changed." }),
        }),
      ),
      next,
    }),
    problems: ["not-found"],
  },
  compareFeatures: {
    method: "GET",
    path: "/features/compare",
    tag: TAG,
    summary: "Compute two versions of a feature for the same stored events",
    description:
      "Counts of results by platform and SDK version. Numbers below 10 are suppressed, and so are numbers " +
      "that would reveal them. With a case of an account or an action, it reads only the case's events, and shows all numbers: inputs of " +
      "high sensitivity then need the role `investigator`, too.",
    permission: "features.read",
    operation: "feature.compare",
    breakGlass: true,
    access: "audited-read",
    appliedBy: "worker",
    isRepeatable: true,
    query: object({
      before: featureName,
      after: featureName,
      purpose,
      from: Type.Optional(
        time(
          "Only events that were received at or after this time. Without a case, it becomes the start of its day in UTC.",
        ),
      ),
      case_id: Type.Optional(uuid("An open case of the caller, of an account or an action.")),
    }),
    answer: object({
      before: shownText(),
      after: shownText(),
      purpose: shownText(),
      from: nullable(shownText("The time that counted; without a case, the start of a day in UTC.")),
      is_exact: Type.Boolean({ description: "Whether no cell is suppressed." }),
      events: nullable(count("Events that both versions were computed of; null if it would reveal a small number.")),
      undecided: nullable(
        count("Events that can't be opened, or that a version took too long for; null where it is suppressed."),
      ),
      cells: Type.Array(
        shape("ComparedCell", {
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
  describeFeature: {
    method: "GET",
    path: "/features/describe",
    tag: TAG,
    summary: "Show what a version of a feature reads, and how often it had each state and value",
    description:
      "It counts what workers have computed, for all purposes, also of events that have expired or were erased since. Each " +
      "number is rounded down to tens. Numbers from 1 to 9 are null, and groups with fewer than 10 events are left out.",
    permission: "features.read",
    operation: "feature.describe",
    access: "audited-read",
    query: object({
      feature: featureName,
      by: Type.Optional(Type.Enum(["platform", "sdk_version", "platform,sdk_version"], { description: "Grouping." })),
      from: Type.Optional(
        time(
          "Only events that were received on the day of this time in UTC, or later. Default: 90 days before the end.",
        ),
      ),
      to: Type.Optional(
        time("Only events that were received before the day of this time in UTC. Default: the end of today."),
      ),
    }),
    answer: object({
      feature: shownText(),
      meaning: shownText(),
      false_readings: Type.Array(shownText("A situation in which the value misleads.")),
      owner: shownText(),
      hash: shownText("SHA-256 of the archived program, its inputs and its output."),
      purposes: Type.Array(shownText("A purpose that the definition names.")),
      versions: Type.Array(shownText(), {
        description: "Every version that was proposed, `id@version`, oldest first.",
      }),
      inputs: Type.Array(
        shape("FeatureInput", {
          name: shownText(),
          field: shownText("The path of the field that it reads."),
          type: shownText(),
          unit: nullable(shownText()),
          sensitivity: Type.Enum([...SENSITIVITIES]),
        }),
      ),
      output: shownText("The type of its values, such as `flag`."),
      unit: nullable(shownText()),
      from: shownText("The first day."),
      to: shownText("The day after the last one."),
      groups: Type.Array(
        shape("FeatureGroup", {
          platform: nullable(shownText("Null unless `by` names it.")),
          sdk_version: nullable(shownText("Null unless `by` names it.")),
          ...results,
        }),
        { description: "The largest ones first, 50 at most." },
      ),
      is_limited: Type.Boolean({ description: "Whether there are more groups." }),
      days: Type.Array(shape("FeatureDay", { day: shownText("In UTC."), ...results }), {
        description: "The days with events, of all groups together.",
      }),
    }),
    problems: ["not-found"],
  },
} as const satisfies Readonly<Record<string, Route>>;
