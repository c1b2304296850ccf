import { PLATFORMS } from "@device-risk-signals/contract/limits";
import { Type } from "typebox";
import type { Route } from "../route.ts";
import {
  account,
  actionId,
  actionType,
  category,
  count,
  event,
  eventId,
  idempotencyKey,
  limit,
  nonEmptyText,
  nullable,
  object,
  reason,
  sdkVersion,
  sessionId,
  shape,
  shownText,
  ticket,
  time,
  uuid,
} from "../schemas.ts";

const TAG = "Events";

/** Maximum number of events of a tail. */
export const MAX_TAIL = 300;

/** A count of events stops here. */
export const MAX_COUNTED = 1_000;
export const MAX_BUCKETS = 60;
/** Maximum number of events that one call opens. */
export const MAX_OPENED_TOGETHER = 50;

const filter = {
  account: Type.Optional(account),
  action_id: Type.Optional(actionId),
  action_type: Type.Optional(actionType),
  session_id: Type.Optional(sessionId),
  idempotency_key: Type.Optional(idempotencyKey),
  purpose: Type.Optional(nonEmptyText(64, "Purpose, by its id.")),
  platform: Type.Optional(Type.Enum([...PLATFORMS])),
  sdk_version: Type.Optional(sdkVersion),
  from: Type.Optional(time("Received at this time or later.")),
  to: Type.Optional(time("Received before this time.")),
};

/** The case that a read of observations belongs to, or the reason and category of a new case for this event. */
const justification = {
  case_id: Type.Optional(uuid("An open case of the caller that covers the event.")),
  reason: Type.Optional(reason),
  category: Type.Optional(category),
  ticket: Type.Optional(ticket),
};

/** The state of a probe or a field in one of two events. A probe that gave data has the state `success`. */
const side = Type.Union([
  shape("Omitted", { state: Type.Literal("omitted") }),
  shape("Skipped", { state: Type.Literal("skipped"), reason: shownText() }),
  shape("TimedOut", { state: Type.Literal("timeout") }),
  shape("Failed", { state: Type.Literal("error"), error: shownText() }),
  shape("Succeeded", { state: Type.Literal("success") }),
  shape("Observed", { state: Type.Literal("observed"), value: Type.Unknown() }),
]);

const compared = { path: shownText("JSON Pointer."), left: side, right: side };

const byId = { params: object({ event_id: eventId }) };

const JUSTIFIED =
  "Needs `case_id`, or `reason` and `category`, which open a case of this event alone. The audit entry is durable before the answer.";

export const EVENT_ROUTES = {
  listEvents: {
    method: "GET",
    path: "/events",
    tag: TAG,
    summary: "List or search events, newest first",
    description:
      "Filters combine. `session_id` and `idempotency_key` need `account`. A filter by account or action, one by action " +
      "type or SDK version, and none use an index. Other combinations are a search of at most 2 seconds: " +
      "`searched_until` is the time back to which it searched, and `next` continues it.",
    permission: "events.list",
    operation: "event.list",
    access: "audited-read",
    query: object({
      ...filter,
      features: Type.Optional(
        Type.Boolean({
          default: false,
          description: "Also whether its features are computed. Null: its purpose has no features.",
        }),
      ),
      limit,
      after: Type.Optional(nonEmptyText(128, "`next` of the page before.")),
    }),
    answer: object({
      events: Type.Array(event),
      next: nullable(shownText("Continues the list; null at its end.")),
      searched_until: nullable(
        time("If the search ran out of time: it has examined every event that was received after this time."),
      ),
    }),
  },
  countEvents: {
    method: "GET",
    path: "/events/count",
    tag: TAG,
    summary: "Count events by filter and time",
    description:
      `Each number is exact up to ${MAX_COUNTED.toLocaleString("en")}, and stops there. Filters are those of the list. The time is cut into at most ` +
      "`buckets` parts of equal length: a part begins at a multiple of its length in UTC. Counting takes at most about " +
      "2 seconds, from the newest part back.",
    permission: "events.list",
    operation: "event.count",
    access: "audited-read",
    query: object({
      ...filter,
      buckets: Type.Optional(
        Type.Integer({ minimum: 1, maximum: MAX_BUCKETS, default: 1, description: "Maximum number of parts." }),
      ),
    }),
    answer: object({
      counts: Type.Array(
        shape("EventCount", {
          from: shownText("Received at this time or later; RFC 3339, in UTC."),
          to: shownText("Received before this time."),
          events: count("How many, or the first of them."),
          more: Type.Boolean({
            description: "Whether there may be more: the count stopped at its maximum or in time.",
          }),
        }),
        { description: "Oldest first. Without `from` it begins with the oldest events, without `to` it ends now." },
      ),
    }),
  },
  tailEvents: {
    method: "GET",
    path: "/events/tail",
    tag: TAG,
    summary: "Events that were received since a time, newest first",
    description:
      `At most ${MAX_TAIL}. A page that follows the events calls it each second, with a time a few seconds before that of ` +
      "the newest event it has, because events of other servers may be committed a little later. Audited once per " +
      "session or token, filter and ten minutes of a server.",
    permission: "events.list",
    operation: "event.tail",
    access: "audited-read",
    query: object({
      since: Type.Optional(time("Received at this time or later; at most a day ago, by default ten minutes.")),
      account: filter.account,
      action_type: filter.action_type,
      platform: filter.platform,
      sdk_version: filter.sdk_version,
      purpose: filter.purpose,
    }),
    answer: object({
      events: Type.Array(event),
      more: Type.Boolean({ description: "Whether there are more than the maximum: older ones are left out." }),
    }),
  },
  readEvent: {
    method: "GET",
    path: "/events/{event_id}",
    tag: TAG,
    summary: "Promoted attributes of an event",
    permission: "events.list",
    operation: "event.read",
    access: "audited-read",
    ...byId,
    answer: event,
    problems: ["not-found"],
  },
  readObservations: {
    method: "POST",
    path: "/events/{event_id}/observations",
    tag: TAG,
    summary: "Observations of an event, as parsed JSON",
    description: `${JUSTIFIED} Without the permission for fields of high sensitivity, those are left out and named in \`withheld\`.`,
    permission: "events.observations",
    operation: "event.read_observations",
    breakGlass: true,
    access: "audited-read",
    ...byId,
    body: object(justification),
    answer: object({
      event,
      observations: Type.Unknown({
        description: "The raw event. Numbers are those of JSON.parse; another route has the exact bytes.",
      }),
      withheld: Type.Array(shownText(), { description: "JSON Pointers of fields that the caller may not read." }),
      audit_entry: shownText("Id of the audit entry."),
    }),
    problems: ["not-found", "case-invalid", "keys-destroyed"],
  },
  openEvents: {
    method: "POST",
    path: "/events/observations",
    tag: TAG,
    summary: "Observations of several events under one case",
    description:
      "One audit entry names all of them, and is durable before the answer. Each event counts towards the limit of 24 " +
      "hours. The call stops at the limit; if it could open no event, it needs an approval. `unopened` has the events " +
      "that were not opened. Fields of high sensitivity are withheld as for a single event.",
    permission: "events.observations",
    operation: "event.read_observations",
    breakGlass: true,
    access: "audited-read",
    body: object({
      event_ids: Type.Array(eventId, { minItems: 1, maxItems: MAX_OPENED_TOGETHER }),
      case_id: uuid("An open case of the caller that covers all of the events."),
    }),
    answer: object({
      opened: Type.Array(
        shape("OpenedEvent", {
          event,
          observations: Type.Unknown({ description: "The raw event, as for a single event." }),
          withheld: Type.Array(shownText(), { description: "JSON Pointers of fields that the caller may not read." }),
        }),
      ),
      unopened: Type.Array(
        shape("UnopenedEvent", {
          event_id: shownText(),
          reason: Type.Enum(["limit", "not-found", "keys-destroyed"], {
            description: "`not-found`: also an event that was erased, expired or restricted meanwhile.",
          }),
        }),
      ),
      audit_entry: shownText("Id of the audit entry."),
    }),
    problems: ["not-found", "case-invalid"],
  },
  compareEvents: {
    method: "POST",
    path: "/events/{event_id}/compare",
    tag: TAG,
    summary: "What differs between the observations of two events",
    description:
      `${JUSTIFIED} The case covers both events, or a case of each is opened. A probe that gave no data in one of the two ` +
      "has one difference, and its fields have none. Numbers compare as doubles (RFC 8785). Without the permission for " +
      "fields of high sensitivity, those are not compared, and are named in `withheld`.",
    permission: "events.observations",
    operation: "event.compare",
    breakGlass: true,
    access: "audited-read",
    ...byId,
    body: object({
      other_event_id: eventId,
      all: Type.Optional(Type.Boolean({ default: false, description: "Also answer with `fields`." })),
      ...justification,
    }),
    answer: object({
      events: Type.Array(event, { description: "The two, in the order of the request." }),
      differences: Type.Array(shape("Difference", compared)),
      fields: Type.Optional(
        Type.Array(shape("Compared", { verdict: Type.Enum(["equal", "different", "not-comparable"]), ...compared }), {
          description: "All fields that one of the two has. Fields can be compared if both observed a value.",
        }),
      ),
      withheld: Type.Array(shownText(), { description: "JSON Pointers of fields that the caller may not read." }),
      audit_entries: Type.Array(shownText(), { description: "Ids of the audit entries, one of each event." }),
    }),
    problems: ["not-found", "case-invalid", "keys-destroyed"],
  },
  readExactEvent: {
    method: "POST",
    path: "/events/{event_id}/exact",
    tag: TAG,
    summary: "Exact bytes of the raw event",
    description: `${JUSTIFIED} The header \`Audit-Entry\` of the answer names the audit entry.`,
    permission: "events.exact",
    operation: "event.read_raw",
    breakGlass: true,
    access: "audited-read",
    ...byId,
    body: object(justification),
    answer: { bytes: true },
    problems: ["not-found", "case-invalid", "keys-destroyed"],
  },
} as const satisfies Readonly<Record<string, Route>>;
