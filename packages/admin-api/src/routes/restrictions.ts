import { Type } from "typebox";
import { GOVERNANCE_CHANGE, type Route } from "../route.ts";
import {
  account,
  count,
  date,
  dryRun,
  nonEmptyText,
  nullable,
  object,
  reason,
  shape,
  shownText,
  uuid,
} from "../schemas.ts";

const TAG = "Restrictions";

const article = Type.Enum([18, 21], { description: "Of the GDPR: 18 restriction, 21 objection." });
const change = { ...GOVERNANCE_CHANGE, tag: TAG } as const;

export const RESTRICTION_ROUTES = {
  listRestrictions: {
    method: "GET",
    path: "/restrictions",
    tag: TAG,
    summary: "List restrictions and objections, active ones first",
    permission: "governance.read",
    operation: "restriction.list",
    access: "read",
    query: object({ account: Type.Optional(account) }),
    answer: object({
      restrictions: Type.Array(
        shape("Restriction", {
          restriction_id: shownText(),
          account: nullable(shownText("Null where the account is erased, or the database knows nothing of it.")),
          purpose: nullable(shownText("Purpose, by its id; null: all purposes.")),
          article,
          active: Type.Boolean(),
          reason: shownText(),
          approver: nullable(shownText()),
          request_id: nullable(shownText()),
          placed_at: shownText(),
          placed_by: shownText(),
          informed_on: nullable(shownText("When the person was informed of its end.")),
          lifted_at: nullable(shownText()),
          lift_reason: nullable(shownText()),
          erased: Type.Boolean({ description: "Whether an erasure of the account ended it." }),
        }),
      ),
    }),
  },
  addRestriction: {
    ...change,
    path: "/restrictions",
    summary: "Hide the events of an account from analysis, stored ones and later ones",
    description: "`approver` or `request_id` says who decided it.",
    operation: "restriction.add",
    body: object({
      account,
      article,
      purpose: Type.Optional(nonEmptyText(64, "Purpose, by its id: only the events of this purpose.")),
      reason,
      approver: Type.Optional(nonEmptyText(256, "Who decided it.")),
      request_id: Type.Optional(uuid("The open request of the account that asks for it.")),
      dry_run: dryRun,
    }),
    answer: object({ restriction_id: shownText(), events: count("Stored events that it hides from analysis.") }),
    problems: ["not-found", "state-conflict"],
  },
  liftRestriction: {
    ...change,
    path: "/restrictions/{restriction_id}/lift",
    summary: "End a restriction, after the person was informed that it ends",
    operation: "restriction.lift",
    params: object({ restriction_id: uuid("Id of the restriction.") }),
    body: object({
      informed_on: date("When the person was informed (article 18 (3)); not after today."),
      reason,
      dry_run: dryRun,
    }),
    answer: object({ restriction_id: shownText(), events: count("Events that may be analysed again.") }),
    problems: ["not-found", "state-conflict"],
  },
} as const satisfies Readonly<Record<string, Route>>;
