import { PLATFORMS } from "@device-risk-signals/contract/limits";
import { Type } from "typebox";
import type { Route } from "../route.ts";
import {
  account,
  count,
  idempotencyKey,
  limit,
  nonEmptyText,
  nullable,
  object,
  sdkVersion,
  shape,
  shownText,
  time,
} from "../schemas.ts";

const TAG = "Counters";

/** How outcomes are grouped. */
export const OUTCOME_GROUPS = ["sdk_version", "os", "platform", "day"] as const;
export type OutcomeGroup = (typeof OUTCOME_GROUPS)[number];
/** Limits of a summary. */
export const MAX_DAYS = 92;
export const MAX_SUMMARY_ROWS = 5_000;
export const MAX_REJECTION_SUMS = 500;

/** What is left of the event of an idempotency key. */
export const KEY_STATES = ["stored", "expired", "erased"] as const;

const range = {
  from: Type.Optional(time("Hours from this time on.")),
  to: Type.Optional(time("Hours that begin before this time.")),
};
const page = {
  limit,
  after: Type.Optional(nonEmptyText(1_024, "`next` of the page before, which had the same filter.")),
};
const next = nullable(shownText("Continues the list; null at its end."));

export const COUNTER_ROUTES = {
  listOutcomes: {
    method: "GET",
    path: "/outcomes",
    tag: TAG,
    summary: "Numbers of events by the outcome of a probe, newest hour first",
    permission: "counters.read",
    operation: "outcome.list",
    access: "read",
    query: object({
      ...range,
      platform: Type.Optional(Type.Enum([...PLATFORMS])),
      sdk_version: Type.Optional(sdkVersion),
      probe: Type.Optional(nonEmptyText(128, "Probe id; `other`: probes that the catalog does not know.")),
      ...page,
    }),
    answer: object({
      outcomes: Type.Array(
        shape("ProbeOutcomes", {
          hour: shownText("Its start; RFC 3339, in UTC."),
          platform: shownText(),
          sdk_version: shownText(),
          os_major: nullable(shownText("Null: not known.")),
          probe: shownText(),
          state: shownText(),
          reason: nullable(shownText("Null: the state has none.")),
          occurrences: count(),
        }),
      ),
      next,
    }),
  },
  summarizeOutcomes: {
    method: "GET",
    path: "/outcomes/summary",
    tag: TAG,
    summary: "Numbers of events by the outcome of each probe, in groups",
    description: `At most ${MAX_DAYS} days, by default the last 7; at most ${MAX_SUMMARY_ROWS} rows.`,
    permission: "counters.read",
    operation: "outcome.summary",
    access: "read",
    query: object({
      by: Type.Enum([...OUTCOME_GROUPS], { description: "What the groups have in common; `day`: in UTC." }),
      ...range,
      platform: Type.Optional(Type.Enum([...PLATFORMS])),
      sdk_version: Type.Optional(sdkVersion),
      probe: Type.Optional(nonEmptyText(128, "Probe id; `other`: probes that the catalog does not know.")),
    }),
    answer: object({
      from: shownText("Start of the first hour that counts."),
      to: shownText("End of the range."),
      outcomes: Type.Array(
        shape("OutcomeSum", {
          group: shownText("Such as `1.2.0`, `android 15`, `ios` or `2026-11-29`."),
          probe: shownText(),
          state: shownText(),
          occurrences: count(),
        }),
        { description: "In the order of group, probe and state." },
      ),
      more: Type.Boolean({ description: "Whether there are more rows than the maximum." }),
    }),
  },
  summarizeRejections: {
    method: "GET",
    path: "/rejections/summary",
    tag: TAG,
    summary: "Numbers of rejected requests by problem, rule and place, most frequent first",
    description: `At most ${MAX_DAYS} days, by default the last 7; at most ${MAX_REJECTION_SUMS} rows.`,
    permission: "counters.read",
    operation: "rejection.summary",
    access: "read",
    query: object(range),
    answer: object({
      from: shownText("Start of the first hour that counts."),
      to: shownText("End of the range."),
      rejections: Type.Array(
        shape("RejectionSum", {
          problem: shownText(),
          violation: nullable(shownText("The rule, or a cause that clients do not learn.")),
          place: nullable(shownText("Where in the request; without names that a client chose.")),
          sdk_version: nullable(shownText("Null: not known.")),
          occurrences: count(),
          first_hour: shownText("The first hour of the range in which it occurred."),
          last_hour: shownText("The last one."),
        }),
      ),
      more: Type.Boolean({ description: "Whether there are more rows than the maximum." }),
    }),
  },
  listRejections: {
    method: "GET",
    path: "/rejections",
    tag: TAG,
    summary: "Numbers of rejected requests, newest hour first",
    description: "A request with several violations counts once in the row of each.",
    permission: "counters.read",
    operation: "rejection.list",
    access: "read",
    query: object({
      ...range,
      problem: Type.Optional(nonEmptyText(64, "Code of the problem.")),
      sdk_version: Type.Optional(sdkVersion),
      ...page,
    }),
    answer: object({
      rejections: Type.Array(
        shape("Rejections", {
          hour: shownText("Its start; RFC 3339, in UTC."),
          problem: shownText(),
          violation: nullable(
            shownText(
              "For `action-refused`: `unknown`, `expired` (or revoked), `other-account` or `other-type`. For " +
                "`credentials-invalid`: `too-long`. Clients do not learn these causes.",
            ),
          ),
          place: nullable(shownText("Where in the request; without names that a client chose.")),
          sdk_version: nullable(shownText()),
          occurrences: count(),
        }),
      ),
      next,
    }),
  },
  listRecentRejections: {
    method: "GET",
    path: "/rejections/recent",
    tag: TAG,
    summary: "Rejected requests of the last day, newest first",
    description:
      "The last 20 of each account, of a source address without an account 20 a day for each server process, and 10,000 " +
      "in all. A crash of the database empties the list; the counts have every rejection. Audited once per session or " +
      "token, filter and ten minutes of a server.",
    permission: "rejections.read",
    operation: "rejection.recent",
    access: "audited-read",
    query: object({
      account: Type.Optional(account),
      problem: Type.Optional(nonEmptyText(64, "Code of the problem.")),
      sdk_version: Type.Optional(sdkVersion),
      limit,
      after: Type.Optional(nonEmptyText(32, "`next` of the page before, which had the same filter.")),
    }),
    answer: object({
      rejections: Type.Array(
        shape("RecentRejection", {
          rejection_id: Type.Integer({
            description: "A later one has a greater number, until a crash of the database.",
          }),
          at: shownText("When it was answered, to a second or two; RFC 3339, in UTC."),
          status: nullable(Type.Integer({ description: "Null: a problem of another release." })),
          problem: shownText(),
          cause: nullable(shownText("A cause that clients do not learn, as in the counts.")),
          rules: Type.Array(
            shape("BrokenRule", {
              violation: nullable(shownText("Null: the problem has no violations.")),
              place: nullable(shownText("Where in the request, without names that a client chose. Null: as a whole.")),
            }),
            { description: "The first five that it broke." },
          ),
          more: Type.Boolean({ description: "Whether it broke more than five." }),
          sdk_version: nullable(shownText("`other`: not of a usual form. Null: not known.")),
          account: nullable(
            shownText(
              "Null: rejected before the authentication, or the account is erased. A pseudonym for the role operator.",
            ),
          ),
        }),
      ),
      next,
    }),
  },
  readTimeline: {
    method: "GET",
    path: "/timeline",
    tag: "Events",
    summary: "What the audit has of an idempotency key: retries and conflicts",
    permission: "events.timeline",
    operation: "event.timeline",
    access: "audited-read",
    query: object({
      account,
      idempotency_key: idempotencyKey,
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 100_000, default: 100, description: "Maximum number of entries." }),
      ),
    }),
    answer: object({
      event_id: nullable(shownText("The event that has the idempotency key; null: erased.")),
      state: Type.Enum([...KEY_STATES], {
        description:
          "`expired`: the event was deleted at the end of its period, and the key still answers retries. `erased`: " +
          "only a keyed hash of the key is left; shown to roles with `governance.read`.",
      }),
      erased_at: nullable(
        shownText("When the key was replaced by its hash, or when the last copy that a hold kept was deleted."),
      ),
      entries: Type.Array(
        shape("TimelineEntry", {
          at: shownText(),
          outcome: shownText(),
          occurrences: count("Requests that the entry counts."),
          events: count(
            "Events that the entry names. If it names several, `occurrences` counts the requests of all of them.",
          ),
        }),
        { description: "Oldest first." },
      ),
      more: Type.Boolean({ description: "Whether there are more entries than the limit." }),
      unnamed: shape("UnnamedRejections", {
        entries: count("Entries about the account that name the maximum number of events, but do not name this event."),
        occurrences: count("Retries in them; some may be of this key."),
      }),
    }),
    problems: ["not-found"],
  },
} as const satisfies Readonly<Record<string, Route>>;
