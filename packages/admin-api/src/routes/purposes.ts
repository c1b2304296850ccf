import { Type } from "typebox";
import type { Route } from "../route.ts";
import { count, nullable, object, shape, shownText } from "../schemas.ts";

const TAG = "Purposes";

/** The longest policy that `readPolicy` of the server accepts. */
const MAX_POLICY_CHARACTERS = 1_048_576;
/** JSON writes a character in at most 6 bytes; 64 KiB are for the other members. */
const MAX_POLICY_BYTES = 6 * MAX_POLICY_CHARACTERS + 65_536;

const change = Type.Union([
  shape("PurposeChange", {
    purpose: shownText(),
    change: Type.Enum(["added", "changed", "retired", "removed"]),
    members: Type.Array(shownText(), { description: "Members that differ." }),
    events: count("Events that it holds."),
    expire_earlier: count(
      "Events whose raw event or derived values expire earlier by a new period, also events of which only derived values are left.",
    ),
    expire_at_once: count("Events that a new period makes expire at once."),
  }),
  shape("ActionChange", { action_type: shownText(), from: nullable(shownText()), to: nullable(shownText()) }),
  shape("UnmappedChange", { unmapped: shownText(), from: shownText() }),
]);

export const PURPOSE_ROUTES = {
  listPurposes: {
    method: "GET",
    path: "/purposes",
    tag: TAG,
    summary: "List the purposes, and which action types belong to each",
    permission: "governance.read",
    operation: "purpose.list",
    access: "read",
    answer: object({
      purposes: Type.Array(
        shape("Purpose", {
          id: shownText(),
          title: shownText(),
          legal_basis: nullable(shownText()),
          owner: nullable(shownText()),
          raw_retention: nullable(shownText("ISO 8601; null: kept without end, or no policy gave it a period.")),
          derived_retention: nullable(shownText()),
          probes: nullable(Type.Array(shownText(), { description: "Probes that it covers; null: all." })),
          highest_sensitivity: nullable(shownText()),
          beyond: shownText("The treatment of an event that holds more than the purpose covers."),
          export_attributes: Type.Array(shownText(), {
            description: "Attributes of events that exports of features may have.",
          }),
          retired_at: nullable(shownText()),
          action_types: Type.Array(shownText()),
          takes_unmapped: Type.Boolean({
            description: "Whether action types that the policy does not map belong to it.",
          }),
          policy_version: count("0 before a policy was applied."),
        }),
      ),
    }),
  },
  readProcessingRecord: {
    method: "GET",
    path: "/purposes/record",
    tag: TAG,
    summary: "Record of processing (GDPR, article 30) of the active policy",
    permission: "governance.read",
    operation: "purpose.record",
    access: "read",
    answer: object({
      policy: Type.Unknown({ description: "The policy, as it was applied." }),
      record: shownText("The record, in Markdown."),
    }),
    problems: ["not-found"],
  },
  applyPolicy: {
    method: "POST",
    path: "/purposes/apply",
    tag: TAG,
    summary: "Apply a policy: purposes, and the purpose of each action type",
    description:
      "A dry run changes nothing and answers what would change. A policy that makes many events expire earlier needs an approval.",
    permission: "purposes.change",
    operation: "policy.apply",
    access: "change",
    breakGlass: "by-plan",
    appliedBy: "worker",
    maxBodyBytes: MAX_POLICY_BYTES,
    body: object({
      policy: Type.String({ maxLength: MAX_POLICY_CHARACTERS, description: "The policy file, as YAML." }),
      dry_run: Type.Optional(Type.Boolean()),
    }),
    answer: object({ version: count("The active version."), changes: Type.Array(change), dry_run: Type.Boolean() }),
    problems: ["state-conflict"],
  },
} as const satisfies Readonly<Record<string, Route>>;
