import { Type } from "typebox";
import type { Route } from "../route.ts";
import {
  account,
  actionId,
  category,
  count,
  eventId,
  next,
  nullable,
  object,
  page,
  reason,
  shape,
  shownText,
  ticket,
  time,
  uuid,
} from "../schemas.ts";

const TAG = "Cases";

const shownCase = shape("Case", {
  case_id: shownText(),
  category,
  ticket: nullable(shownText()),
  reason: shownText(),
  scope: Type.Enum(["account", "action", "event"], { description: "What the case covers." }),
  subject: shownText("The account, action id or event id."),
  account: nullable(shownText("The account of an account or an action.")),
  opened_by: shownText(),
  opened_at: time("When it was opened."),
  expires_at: time("8 hours later."),
  closed_at: nullable(time("When it was closed.")),
  events_opened: count("Events that were opened with it."),
});

const byId = { params: object({ case_id: uuid("Id of the case.") }) };

export const CASE_ROUTES = {
  openCase: {
    method: "POST",
    path: "/cases",
    tag: TAG,
    summary: "Open a case: why the caller will open events",
    description:
      "`account`, `account` and `action_id`, or `event_id` says what it covers. Only its opener can use it, for 8 hours.",
    permission: "cases.use",
    operation: "case.open",
    access: "change",
    body: object({
      category,
      ticket: Type.Optional(ticket),
      reason,
      account: Type.Optional(account),
      action_id: Type.Optional(actionId),
      event_id: Type.Optional(eventId),
    }),
    answer: shownCase,
  },
  listCases: {
    method: "GET",
    path: "/cases",
    tag: TAG,
    summary: "List cases, newest first",
    permission: "cases.read",
    operation: "case.list",
    access: "read",
    query: object({
      open: Type.Optional(Type.Boolean({ description: "`true`: only open cases; `false`: only the other ones." })),
      ...page,
    }),
    answer: object({ cases: Type.Array(shownCase), next }),
  },
  closeCase: {
    method: "POST",
    path: "/cases/{case_id}/close",
    tag: TAG,
    summary: "Close a case of the caller",
    permission: "cases.use",
    operation: "case.close",
    access: "change",
    ...byId,
    answer: shownCase,
    problems: ["not-found"],
  },
} as const satisfies Readonly<Record<string, Route>>;
