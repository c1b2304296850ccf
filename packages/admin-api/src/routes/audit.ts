import { Type } from "typebox";
import type { Route } from "../route.ts";
import { account, count, eventId, limit, nullable, object, shownText, text } from "../schemas.ts";

export const AUDIT_ROUTES = {
  listAudit: {
    method: "GET",
    path: "/audit",
    tag: "Audit",
    summary: "List audit entries, newest first",
    description: "Roles other than the auditor see their own entries.",
    permission: "audit.read",
    operation: "audit.list",
    access: "read",
    query: object({
      account: Type.Optional(account),
      event_id: Type.Optional(eventId),
      limit,
      after: Type.Optional(text(128, "`next` of the page before, which had the same filter.")),
    }),
    answer: object({
      entries: Type.Array(
        object({
          entry_id: shownText(),
          at: shownText(),
          actor: shownText(),
          via: shownText("How the actor reached the system."),
          roles: nullable(Type.Array(shownText(), { description: "The roles that the actor had." })),
          operation: shownText(),
          outcome: shownText(),
          account: nullable(shownText("Keyed MAC in hexadecimal; the name where the query has it.")),
          event_id: nullable(shownText()),
          occurrences: count(),
          reason: nullable(shownText()),
          detail: Type.Unknown(),
          unreadable: Type.Boolean({
            description: "Whether reason and detail were sealed under a secret that is destroyed or lost.",
          }),
          category: nullable(shownText()),
          ticket: nullable(shownText()),
          case_id: nullable(shownText()),
          approval_id: nullable(shownText()),
        }),
      ),
      next: nullable(shownText("Continues the list; null at its end.")),
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
