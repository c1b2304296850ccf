import { UNITS } from "@device-risk-signals/contract/catalog/declare";
import { Type } from "typebox";
import type { Route } from "../route.ts";
import { count, date, FIELD_TYPES, nullable, object, reason, SENSITIVITIES, shape, shownText } from "../schemas.ts";

const TAG = "Drift";

const path = Type.String({
  pattern: "^[A-Za-z0-9_]{1,64}(\\.[A-Za-z0-9_]{1,64}){0,2}$",
  description: "Names from the probe down, joined by dots.",
});
const sensitivity = Type.Enum([...SENSITIVITIES]);
const review = Type.Enum(["open", "accepted", "ignored", "rejected"], {
  description: "The newest decision about the path; `open`: there is none, it expired, or a new type was seen.",
});

const seenMember = shape("SeenMember", {
  path: shownText("Malformed names are counted under *."),
  json_type: shownText(),
  platform: shownText(),
  sdk_version: shownText(),
  first_seen: shownText(),
  last_seen: shownText(),
  occurrences: count("Number of events."),
  daily: Type.Array(count(), {
    description: "The events of each of 30 days in UTC; the last number is of the day of `last_seen`.",
  }),
  review,
});

const field = shape("OverlayField", {
  path: shownText(),
  type: Type.Enum([...FIELD_TYPES]),
  unit: nullable(Type.Enum([...UNITS])),
  sensitivity,
  is_classified: Type.Boolean({ description: "Whether the role `privacy` decided the sensitivity." }),
});
const overlay = Type.Array(field, { description: "Every accepted field, in the order of their paths." });

const decision = shape("DriftDecision", {
  path: shownText(),
  kind: Type.Enum(["accepted", "classified", "ignored", "rejected"]),
  type: nullable(shownText()),
  unit: nullable(shownText()),
  sensitivity: nullable(sensitivity),
  ignored_until: nullable(shownText()),
  seen_types: Type.Array(shownText(), { description: "JSON types that had been seen at the path." }),
  decided_at: shownText(),
  decided_by: shownText(),
  reason: shownText(),
});

const byPath = { params: object({ path }) };
const decided = shape("DriftDecided", {
  decision,
  overlay,
  platforms: Type.Array(shownText(), { description: "Platforms that sent something at the path, or above it." }),
});

export const DRIFT_ROUTES = {
  listDrift: {
    method: "GET",
    path: "/drift",
    tag: TAG,
    summary: "Departures of stored events from the catalog, most frequent first",
    permission: "counters.read",
    operation: "drift.list",
    access: "read",
    query: object({ all: Type.Optional(Type.Boolean({ description: "Also ignored paths.", default: false })) }),
    answer: object({ drift: Type.Array(seenMember) }),
  },
  readDrift: {
    method: "GET",
    path: "/drift/{path}",
    tag: TAG,
    summary: "What was seen at a path, above it and below it, what was decided, and which features read it",
    permission: "features.governance",
    operation: "drift.show",
    access: "read",
    ...byPath,
    answer: object({
      seen: Type.Array(seenMember),
      decisions: Type.Array(decision),
      overlay,
      read_by: Type.Array(
        shape("FieldReader", {
          feature: shownText("`id@version`."),
          path: shownText("The path that it reads."),
          computed_for: Type.Array(shownText(), { description: "The purposes for which it is computed now." }),
        }),
        { description: "Versions of features that were proposed, and read the path or one above it or below it." },
      ),
    }),
  },
  readOverlay: {
    method: "GET",
    path: "/catalog-overlay",
    tag: TAG,
    summary: "The accepted fields beyond the catalog",
    permission: "features.governance",
    operation: "drift.overlay",
    access: "read",
    answer: object({ overlay }),
  },
  acceptDrift: {
    method: "POST",
    path: "/drift/{path}/accept",
    tag: TAG,
    summary: "Accept a field beyond the catalog: definitions of features may read it",
    description:
      "Its sensitivity is `high` until the role `privacy` classifies it; `sensitivity` is what the caller proposes.",
    permission: "drift.review",
    operation: "drift.accept",
    access: "change",
    ...byPath,
    body: object({
      type: Type.Enum([...FIELD_TYPES]),
      unit: Type.Optional(Type.Enum([...UNITS], { description: "Unit of a number." })),
      sensitivity,
      reason,
    }),
    answer: decided,
    problems: ["not-found", "state-conflict"],
  },
  classifyDrift: {
    method: "POST",
    path: "/drift/{path}/classify",
    tag: TAG,
    summary: "Classify the sensitivity of an accepted field",
    description: "Another person than the one who accepted the field classifies it.",
    permission: "drift.classify",
    operation: "drift.classify",
    access: "change",
    ...byPath,
    body: object({ sensitivity, reason }),
    answer: decided,
    problems: ["not-found", "state-conflict"],
  },
  ignoreDrift: {
    method: "POST",
    path: "/drift/{path}/ignore",
    tag: TAG,
    summary: "Ignore a path: it is not listed until the date, or until a new type is seen there",
    permission: "drift.review",
    operation: "drift.ignore",
    access: "change",
    ...byPath,
    body: object({ until: Type.Optional(date("First day on which it is listed again.")), reason }),
    answer: decided,
    problems: ["not-found"],
  },
  rejectDrift: {
    method: "POST",
    path: "/drift/{path}/reject",
    tag: TAG,
    summary: "Reject a path: no definition reads it, and it stays listed",
    permission: "drift.review",
    operation: "drift.reject",
    access: "change",
    ...byPath,
    body: object({ reason }),
    answer: decided,
    problems: ["not-found"],
  },
} as const satisfies Readonly<Record<string, Route>>;
