/**
 * The wire rules as data: the members of the transport object, of the event envelope and of the four outcomes. The
 * validator reads these tables, and the JSON Schema is generated from them.
 */
import { EVENT_TYPE, LIMITS, type OUTCOME_STATUSES, PLATFORMS, SCHEMA_VERSION } from "../limits.ts";

export type Member =
  | {
      readonly kind: "string";
      readonly minLength: number;
      readonly maxLength?: number;
      /** The member is also a column. PostgreSQL can't store U+0000 in a text, so the endpoint rejects it. */
      readonly promoted: boolean;
    }
  | { readonly kind: "enum"; readonly values: readonly string[] }
  | { readonly kind: "constant"; readonly value: string | number }
  | { readonly kind: "date-time" }
  | { readonly kind: "event" }
  | { readonly kind: "probes" }
  | { readonly kind: "object" };

export type MemberRule = Member & { readonly required: boolean; readonly meaning: string };

export interface ObjectRule {
  /** Whether members that are not listed are kept rather than rejected. */
  readonly open: boolean;
  readonly members: Readonly<Record<string, MemberRule>>;
}

export const TRANSPORT: ObjectRule = {
  open: false,
  members: {
    action_id: {
      kind: "string",
      required: true,
      minLength: 1,
      maxLength: LIMITS.actionId,
      promoted: true,
      meaning: "The server-issued action that the collection is bound to.",
    },
    action_type: {
      kind: "string",
      required: true,
      minLength: 1,
      maxLength: LIMITS.actionType,
      promoted: true,
      meaning: "What the user was about to do, in the host's own vocabulary.",
    },
    sdk_version: {
      kind: "string",
      required: true,
      minLength: 1,
      maxLength: LIMITS.sdkVersion,
      promoted: true,
      meaning: "Version of the SDK that collected the event.",
    },
    platform: { kind: "enum", required: true, values: PLATFORMS, meaning: "The platform that the event comes from." },
    app_version: {
      kind: "string",
      required: false,
      minLength: 0,
      maxLength: LIMITS.appVersion,
      promoted: true,
      meaning: "Version of the host application; absent and empty are the same.",
    },
    observations: { kind: "event", required: true, meaning: "The raw event, as the SDK returned it." },
  },
};

export const ENVELOPE: ObjectRule = {
  open: true,
  members: {
    session_id: {
      kind: "string",
      required: true,
      minLength: 1,
      maxLength: LIMITS.sessionId,
      promoted: true,
      meaning: "The `sessionId` that was passed to `collect`.",
    },
    client_id: {
      kind: "string",
      required: false,
      minLength: 1,
      promoted: false,
      meaning: "What the host set after authentication. Never proof of identity.",
    },
    event_type: { kind: "constant", required: true, value: EVENT_TYPE, meaning: "The one kind of event." },
    schema_version: { kind: "constant", required: true, value: SCHEMA_VERSION, meaning: "Version of this envelope." },
    collected_at: {
      kind: "date-time",
      required: true,
      meaning: "When the event was collected, as the device claims; RFC 3339 with an offset.",
    },
    probes: { kind: "probes", required: true, meaning: "Probe IDs and their outcomes; unknown ones are kept." },
  },
};

type OutcomeStatus = (typeof OUTCOME_STATUSES)[number];

const status = (value: OutcomeStatus, meaning: string): MemberRule => ({
  kind: "constant",
  required: true,
  value,
  meaning,
});

const text = (meaning: string): MemberRule => ({
  kind: "string",
  required: true,
  minLength: 0,
  promoted: false,
  meaning,
});

/** The four shapes of an outcome, each closed. The fifth state, *omitted*, is the absence of the probe. */
export const OUTCOMES: Readonly<Record<OutcomeStatus, ObjectRule>> = {
  success: {
    open: false,
    members: {
      status: status("success", "The probe ran to its end."),
      data: { kind: "object", required: true, meaning: "What was observed; unknown fields are kept." },
    },
  },
  skipped: {
    open: false,
    members: { status: status("skipped", "The probe was not run."), reason: text("Why it was not run.") },
  },
  timeout: { open: false, members: { status: status("timeout", "The probe did not end in time.") } },
  error: {
    open: false,
    members: {
      status: status("error", "The probe failed."),
      error: text("A code of the SDK; other senders may write any text."),
    },
  },
};
