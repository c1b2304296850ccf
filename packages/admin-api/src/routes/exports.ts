import { type Static, Type } from "typebox";
import { featureName, purpose } from "../feature-schemas.ts";
import type { Route } from "../route.ts";
import {
  account,
  actionId,
  actionType,
  count,
  date,
  eventId,
  MAX_TTL_MS,
  next,
  nonEmptyText,
  nullable,
  object,
  page,
  reason,
  shape,
  shownText,
  time,
  uuid,
} from "../schemas.ts";

const TAG = "Exports";

/**
 * Enough for several hundred thousand labels. Only the API has this limit: a command on the database reads a file of
 * any size.
 */
export const MAX_LABELS_BYTES = 16_777_216;

export const EXPORT_CLOCKS = ["received", "known"] as const;
export const FEATURE_FORMATS = ["csv", "jsonl", "parquet"] as const;
/** The attributes of an event that an export of features may have in addition, if its purpose allows them. */
export const EXPORT_ATTRIBUTES = ["platform", "sdk_version", "app_version", "action_type"] as const;
export type ExportAttribute = (typeof EXPORT_ATTRIBUTES)[number];
/** Maximum number of events that one export names by their ids. */
export const MAX_EVENT_IDS = 1_000;

const clock = Type.Enum([...EXPORT_CLOCKS], {
  description:
    "`received`: values of events received up to the time of the label; `known`: of those, values computed up to it.",
});
const format = Type.Enum([...FEATURE_FORMATS]);
const attributes = Type.Array(Type.Enum([...EXPORT_ATTRIBUTES]), {
  maxItems: EXPORT_ATTRIBUTES.length,
  uniqueItems: true,
  description: "Attributes of the events, in the order of their columns; the purpose must allow them.",
});
const inputStates = Type.Boolean({ description: "Whether each feature has a column with the state of each input." });
const historyMs = Type.Integer({
  minimum: 1,
  maximum: MAX_TTL_MS,
  description: "A row for each event in this time before the label, in milliseconds. Default: the newest event alone.",
});
const labels = shape("Labels", {
  format: Type.Enum(["csv", "jsonl"]),
  text: Type.String({ minLength: 1, maxLength: MAX_LABELS_BYTES, description: "The content of the label file." }),
});
const recipient = nonEmptyText(256, "Who gets the file.");
const expiresOn = date("When the recipient deletes the file; after today.");
const exportId = uuid("Id of the export.");
const sha256 = shownText("SHA-256 in hexadecimal.");

const handedOut = {
  manifest_version: Type.Literal(1),
  export_id: shownText(),
  recipient: shownText(),
  expires_on: shownText(),
  watermark: shownText("What was stored later is not in the file."),
  file: shape("ExportFile", { sha256, bytes: count(), rows: count() }),
};
const featureManifest = shape("FeatureExportManifest", {
  ...handedOut,
  kind: Type.Literal("features"),
  purpose: shownText(),
  clock,
  format,
  labels: shape("LabelsUsed", { sha256, rows: count() }),
  empty_rows: count("Rows for which no values were found."),
  attributes,
  history: nullable(
    shape("ExportedHistory", {
      ms: historyMs,
      max_events: count("The file has the newest events of a label, at most so many."),
      limited_labels: count("Labels with more events."),
    }),
  ),
  text_prefix: nullable(
    shownText(
      "What comes before each text that a spreadsheet would run and each text that begins with it: remove it once from " +
        "each cell that begins with it. Null where every text is as it was.",
    ),
  ),
  columns: Type.Array(
    shape("ExportColumn", {
      name: shownText(),
      feature: shownText("`id@version`."),
      hash: shownText("SHA-256 of the identity of the feature version."),
      meaning: shownText(),
      type: Type.Enum(["flag", "count", "number", "category"]),
      unit: nullable(shownText("Null for a value without a unit.")),
      false_readings: Type.Array(shownText("A situation in which the value misleads.")),
      inputs: Type.Array(
        shape("ExportInput", { column: shownText(), field: shownText("The path of the field that it reads.") }),
        { description: "The columns with the states of its inputs; empty without `input_states`." },
      ),
      states: Type.Record(Type.String(), count(), { description: "Number of rows by state." }),
    }),
  ),
});
export type FeatureExportManifest = Static<typeof featureManifest>;

const eventManifest = shape("EventExportManifest", {
  ...handedOut,
  kind: Type.Literal("events"),
  case_id: shownText(),
  unreadable: count("Rows without bytes: the keys of the event are lost, or its row was damaged."),
  held: count("Rows of events that a legal hold covers."),
});
export type EventExportManifest = Static<typeof eventManifest>;
export type ExportManifest = FeatureExportManifest | EventExportManifest;

const featureExportEnd = shape("FeatureExportEnd", { manifest: featureManifest });
const part = shape("ExportPart", { base64: shownText("Appended to the file.") });

/** A part of the file of an export, or, at the end, its manifest. */
export type FilePart<Manifest extends ExportManifest = ExportManifest> =
  | { readonly base64: string }
  | { readonly manifest: Manifest };

const WHOLE =
  "Each line appends to the file, and the last one is the manifest: without it, the file is not whole. Needs an approval " +
  "by the role `privacy`.";

const exportRecord = shape("Export", {
  export_id: shownText(),
  kind: Type.Enum(["features", "events"]),
  started_at: shownText(),
  purpose: nullable(shownText("Null for events.")),
  recipient: shownText(),
  rows: nullable(count("Null where the export did not end.")),
  expires_on: shownText(),
  state: Type.Enum(["handed out", "expired", "not ended"]),
  recalled_rows: count("Rows whose recall is open."),
  features: nullable(Type.Array(shownText())),
  attributes: nullable(attributes),
  input_states: nullable(inputStates),
  history_ms: nullable(historyMs),
  clock: nullable(clock),
  format: shownText(),
  reason: nullable(shownText("Null for events: the case has it.")),
  case_id: nullable(shownText("Null for features.")),
  started_by: shownText(),
  label_rows: nullable(count()),
  sha256: nullable(sha256),
});
export type ExportRecord = Static<typeof exportRecord>;

const planned = shape("PlannedColumn", {
  feature: shownText("`id@version`."),
  meaning: shownText(),
  states: Type.Record(Type.String(), count(), {
    description: "Number of accounts with rows of a state, rounded down to tens; without states of fewer than ten.",
  }),
});

/** What an export of features takes from which labels. */
const content = {
  labels,
  features: Type.Array(featureName, { minItems: 1, maxItems: 500, uniqueItems: true }),
  purpose,
  clock,
  attributes: Type.Optional(attributes),
  history_ms: Type.Optional(historyMs),
  expires_on: expiresOn,
};

const handingOut = {
  method: "POST",
  tag: TAG,
  recentSignIn: true,
  access: "change",
  appliedBy: "worker",
} as const;

export const EXPORT_ROUTES = {
  planExport: {
    method: "POST",
    path: "/exports/features/plan",
    tag: TAG,
    summary: "Count the rows and states that an export of features would have",
    description:
      "Checks what the export checks, hands out no value, and needs no approval. Numbers are of accounts, " +
      "rounded down to tens; null: fewer than ten, also none. The export has what is stored when it begins.",
    permission: "exports.features",
    operation: "export.plan",
    access: "audited-read",
    appliedBy: "worker",
    isRepeatable: true,
    maxBodyBytes: 2 * MAX_LABELS_BYTES,
    body: object(content),
    answer: object({
      labels: count("Labels of the file."),
      rows: nullable(
        count(
          "One for each label, or for each event of a history: then rounded down to a multiple of ten times the most rows of one account, and null for 0.",
        ),
      ),
      empty_rows: nullable(count("Accounts with labels for which no values are found.")),
      limited_labels: nullable(count("Accounts with labels that have more events than an export has of a label.")),
      columns: Type.Array(planned, { description: "In the order of the features." }),
    }),
    problems: ["not-found", "state-conflict"],
  },
  exportFeatures: {
    ...handingOut,
    path: "/exports/features",
    summary: "Export the features as of the time of each label, for training",
    description: WHOLE,
    permission: "exports.features",
    operation: "export.run",
    maxBodyBytes: 2 * MAX_LABELS_BYTES,
    body: object({ ...content, format, input_states: Type.Optional(inputStates), recipient, reason }),
    answer: { lines: Type.Union([part, featureExportEnd]) },
    problems: ["not-found", "state-conflict"],
  },
  repeatExport: {
    ...handingOut,
    path: "/exports/{export_id}/repeat",
    summary: "Export features again: the same bytes, without what was erased since",
    description: WHOLE,
    permission: "exports.features",
    operation: "export.repeat",
    maxBodyBytes: 2 * MAX_LABELS_BYTES,
    params: object({ export_id: exportId }),
    body: object({ labels, reason }),
    answer: { lines: Type.Union([part, featureExportEnd]) },
    problems: ["not-found", "state-conflict"],
  },
  exportEvents: {
    ...handingOut,
    path: "/exports/events",
    summary: "Export the exact bytes of raw events, with a case",
    description:
      `${WHOLE} The approval says how many of the events the case does not cover. Restricted events are left ` +
      "out. The audit entry of each event is committed before its bytes are read.",
    permission: "exports.events",
    operation: "export.raw",
    breakGlass: true,
    body: object({
      case_id: uuid("An open case of the caller."),
      account: Type.Optional(account),
      action_id: Type.Optional(actionId),
      action_type: Type.Optional(actionType),
      event_ids: Type.Optional(Type.Array(eventId, { minItems: 1, maxItems: MAX_EVENT_IDS })),
      from: Type.Optional(time("Received at this time or later.")),
      to: Type.Optional(time("Received before this time.")),
      recipient,
      expires_on: expiresOn,
    }),
    answer: { lines: Type.Union([part, shape("EventExportEnd", { manifest: eventManifest })]) },
    problems: ["not-found", "state-conflict", "case-invalid"],
  },
  listExports: {
    method: "GET",
    path: "/exports",
    tag: TAG,
    summary: "List exports, newest first: to whom, until when, rows that are recalled",
    permission: "exports.read",
    operation: "export.list",
    access: "read",
    query: object(page),
    answer: object({ exports: Type.Array(exportRecord), next }),
  },
  readExport: {
    method: "GET",
    path: "/exports/{export_id}",
    tag: TAG,
    summary: "The record of an export, with the rows that are recalled",
    permission: "exports.read",
    operation: "export.read",
    access: "read",
    params: object({ export_id: exportId }),
    answer: object({
      record: exportRecord,
      is_expired: Type.Boolean(),
      empty_rows: nullable(count()),
      recalled: Type.Array(count(), { description: "Numbers of the rows whose recall is open." }),
      erased: Type.Array(count(), { description: "Numbers of all rows whose data was erased since the export." }),
    }),
    problems: ["not-found"],
  },
  readRecalls: {
    method: "GET",
    path: "/exports/{export_id}/recalls",
    tag: TAG,
    summary: "Signed recalls: rows that the recipient of an export must delete",
    permission: "exports.recall",
    operation: "export.recall",
    access: "read",
    params: object({ export_id: exportId }),
    answer: object({
      recalls: Type.Array(
        shape("Recall", {
          export_id: shownText(),
          recipient: shownText(),
          sha256: nullable(sha256),
          erasure_id: nullable(shownText("Null: the period of the export is over.")),
          erased_at: nullable(shownText()),
          period_ended_at: nullable(shownText("When the purpose's `derived_retention` of the oldest values ended.")),
          rows: Type.Array(count()),
          acknowledged_at: nullable(shownText()),
          recall: shownText("The signed receipt."),
        }),
      ),
    }),
    problems: ["not-found"],
  },
  acknowledgeRecalls: {
    method: "POST",
    path: "/exports/{export_id}/acknowledge",
    tag: TAG,
    summary: "Record that the recipient has deleted the recalled rows of an export",
    permission: "exports.recall",
    operation: "export.acknowledge",
    access: "change",
    appliedBy: "worker",
    params: object({ export_id: exportId }),
    body: object({ reason }),
    answer: object({ acknowledged: count("Recalls that the call acknowledged.") }),
    problems: ["not-found", "state-conflict"],
  },
} as const satisfies Readonly<Record<string, Route>>;
