import { Type } from "typebox";
import { ROLE_NAMES } from "../permissions.ts";
import type { Route } from "../route.ts";
import { count, next, nullable, object, page, reason, shape, shownText, uuid } from "../schemas.ts";

const TAG = "Approvals";

const shownApproval = shape("Approval", {
  approval_id: shownText(),
  operation: shownText("The operation, as audit entries name it."),
  parameters: Type.Unknown({ description: "Its parameters; the approval is for exactly these." }),
  plan: Type.Unknown({ description: "What the operation would have done at the time of the request." }),
  max_events: count("Maximum number of events that the operation may affect; for more it needs a new approval."),
  needed_roles: Type.Array(Type.Enum([...ROLE_NAMES]), {
    description: "Roles that must approve, each by another person; with `any_role`, one of them is enough.",
  }),
  any_role: Type.Boolean({ description: "Whether one of the needed roles is enough." }),
  reason: nullable(
    shownText("Null, except for the person who asked, the needed roles, the auditor, and commands on the database."),
  ),
  requested_by: shownText(),
  obtained_by: nullable(
    shownText(
      "If the request came with an admin token: the other person who obtained that token, and may not decide either.",
    ),
  ),
  requested_at: shownText(),
  expires_at: shownText("24 hours later."),
  approved_by: Type.Array(shownText()),
  denied_by: nullable(shownText()),
  state: Type.Enum(["waiting", "approved", "denied", "used", "expired", "changed"], {
    description:
      "An approval is given within 24 hours, and used once, within an hour. `changed`: a program other than the server wrote it or a decision about it, so it allows nothing.",
  }),
});

const byId = { params: object({ approval_id: uuid("Id of the approval.") }), answer: shownApproval };
const decision = {
  method: "POST",
  tag: TAG,
  description:
    "A person never decides about their own request, and only a person who signed in decides. The audit log keeps the reason.",
  permission: "approvals.decide",
  access: "change",
  ...byId,
  body: object({ reason: Type.Optional(reason) }),
  problems: ["step-up-required", "not-found", "state-conflict"],
} as const;

export const APPROVAL_ROUTES = {
  listApprovals: {
    method: "GET",
    path: "/approvals",
    tag: TAG,
    summary: "List approvals, newest first",
    permission: "approvals.read",
    operation: "approval.list",
    access: "read",
    query: object(page),
    answer: object({ approvals: Type.Array(shownApproval), next }),
  },
  readApproval: {
    method: "GET",
    path: "/approvals/{approval_id}",
    tag: TAG,
    summary: "An approval: what was asked for, and what it would do",
    permission: "approvals.read",
    operation: "approval.show",
    access: "read",
    ...byId,
    problems: ["not-found"],
  },
  approve: { ...decision, path: "/approvals/{approval_id}/approve", summary: "Approve", operation: "approval.approve" },
  withdrawApproval: {
    method: "POST",
    path: "/approvals/{approval_id}/withdraw",
    tag: TAG,
    summary: "Withdraw a request for an approval",
    description: "Only the person who asked. The approval is then denied by this person.",
    permission: "approvals.read",
    operation: "approval.withdraw",
    access: "change",
    ...byId,
    problems: ["not-found", "state-conflict"],
  },
  deny: { ...decision, path: "/approvals/{approval_id}/deny", summary: "Deny", operation: "approval.deny" },
} as const satisfies Readonly<Record<string, Route>>;
