import { Type } from "typebox";
import { GOVERNANCE_CHANGE, type Route } from "../route.ts";
import {
  account,
  actionId,
  count,
  date,
  dryRun,
  eventId,
  nonEmptyText,
  nullable,
  object,
  reason,
  shape,
  shownText,
  uuid,
} from "../schemas.ts";

const TAG = "Holds";

const approver = nonEmptyText(256, "Who decided it.");
const reviewOn = date("Date of the next review.");
const byId = { params: object({ hold_id: uuid("Id of the hold.") }) };
const change = { ...GOVERNANCE_CHANGE, tag: TAG } as const;

export const HOLD_ROUTES = {
  listHolds: {
    method: "GET",
    path: "/holds",
    tag: TAG,
    summary: "List holds, active ones first",
    permission: "governance.read",
    operation: "hold.list",
    access: "read",
    answer: object({
      holds: Type.Array(
        shape("Hold", {
          hold_id: shownText(),
          account: nullable(shownText()),
          action_id: nullable(shownText()),
          event_id: nullable(shownText()),
          is_unresolved: Type.Boolean({
            description: "Replayed from the erasure journal, and its account or action was not found yet.",
          }),
          reason: shownText(),
          approver: shownText(),
          review_on: shownText(),
          review_overdue: Type.Boolean(),
          placed_at: shownText(),
          placed_by: shownText(),
          lifted_at: nullable(shownText()),
          lift_reason: nullable(shownText()),
          copies: count("Events that were copied, because they would be deleted without it."),
        }),
      ),
    }),
  },
  addHold: {
    ...change,
    path: "/holds",
    permission: "holds.place",
    summary: "Place a hold on an account, an action or one event",
    description:
      "Exactly one of `account`, `action_id` and `event_id` says what is held. An investigator needs an approval by privacy.",
    operation: "hold.add",
    body: object({
      account: Type.Optional(account),
      action_id: Type.Optional(actionId),
      event_id: Type.Optional(eventId),
      reason,
      approver,
      review_on: reviewOn,
      dry_run: dryRun,
    }),
    answer: object({
      hold_id: shownText(),
      events: count("Events that it covers now; for an investigator, without restricted ones."),
    }),
    problems: ["not-found", "state-conflict"],
  },
  reviewHold: {
    ...change,
    path: "/holds/{hold_id}/review",
    summary: "Record a review of an active hold, and the date of the next review",
    operation: "hold.review",
    ...byId,
    body: object({ review_on: reviewOn, approver, reason: Type.Optional(reason), dry_run: dryRun }),
    answer: object({ hold_id: shownText(), review_on: shownText() }),
    problems: ["not-found", "state-conflict"],
  },
  liftHold: {
    ...change,
    path: "/holds/{hold_id}/lift",
    summary: "End a hold; what only this hold kept is deleted",
    operation: "hold.lift",
    ...byId,
    body: object({ reason, dry_run: dryRun }),
    answer: object({ hold_id: shownText(), events_released: count("Events that only this hold still kept.") }),
    problems: ["not-found", "state-conflict"],
  },
} as const satisfies Readonly<Record<string, Route>>;
