import { Type } from "typebox";
import type { Route } from "../route.ts";
import { account, count, eventId, limit, nullable, object, shownText, text, time } from "../schemas.ts";

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
  reviewReads: {
    method: "GET",
    path: "/audit/reads",
    tag: "Audit",
    summary: "Report who opened events, why, and what was done on the database itself",
    description: "At most 1,000 rows of each list. Roles other than the auditor see what they did themselves.",
    permission: "audit.read",
    operation: "audit.review_reads",
    access: "audited-read",
    query: object({ since: Type.Optional(time("Start of the period; 7 days ago where absent.")) }),
    answer: object({
      since: shownText(),
      reads: Type.Array(
        object({
          person: shownText("The person, or the actor of a command on the database."),
          via: shownText("`direct`: a command on the database itself, which may also have destroyed data."),
          operation: shownText(),
          category: nullable(shownText()),
          ticket: nullable(shownText()),
          entries: count(),
          accounts: count("Accounts that the entries are about."),
        }),
      ),
      repeated_reasons: Type.Array(
        object({ person: shownText(), reason: shownText(), cases: count("Cases that were opened with this reason.") }),
      ),
      unused_cases: Type.Array(
        object({
          case_id: shownText(),
          person: shownText(),
          category: shownText(),
          ticket: nullable(shownText()),
          opened_at: shownText(),
        }),
      ),
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
