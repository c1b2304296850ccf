import { Type } from "typebox";
import type { Route } from "../route.ts";
import { account, count, eventId, limit, nullable, object, shownText } from "../schemas.ts";

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
    query: object({ account: Type.Optional(account), event_id: Type.Optional(eventId), limit }),
    answer: object({
      entries: Type.Array(
        object({
          at: shownText(),
          actor: shownText(),
          operation: shownText(),
          outcome: shownText(),
          account: nullable(shownText()),
          event_id: nullable(shownText()),
          occurrences: count(),
          reason: nullable(shownText()),
          detail: Type.Unknown(),
        }),
      ),
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
