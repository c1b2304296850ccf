import { Type } from "typebox";
import type { Route } from "../route.ts";
import {
  account,
  count,
  erasureWithReceipt,
  eventId,
  limit,
  nonEmptyText,
  nullable,
  object,
  reason,
  shownText,
  time,
  uuid,
} from "../schemas.ts";

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
      after: Type.Optional(nonEmptyText(128, "`next` of the page before, which had the same filter.")),
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
          account: nullable(shownText("Keyed MAC in hexadecimal, or the name if the query has it.")),
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
          verified: nullable(
            Type.Boolean({
              description:
                "Whether the MAC of the entry is valid; null: not yet checked. An entry with an invalid MAC is no person's act.",
            }),
          ),
        }),
      ),
      next: nullable(shownText("Continues the list; null at its end.")),
      erasures: Type.Array(erasureWithReceipt, {
        description:
          "With `account`, and for the auditor: the erasures of the account and of its purposes, newest first.",
      }),
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
    query: object({ since: Type.Optional(time("Start of the period; by default 7 days ago.")) }),
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
          unchecked: count("Entries among them whose MAC no worker has checked yet."),
        }),
      ),
      unverified_entries: count(
        "Entries with an invalid MAC, which a login of the database inserted: no person's acts.",
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
  listReviews: {
    method: "GET",
    path: "/audit/reviews",
    tag: "Audit",
    summary: "List open reviews of audit entries, oldest first",
    permission: "audit.review",
    operation: "review.list",
    access: "read",
    answer: object({
      reviews: Type.Array(
        object({
          review_id: shownText(),
          entry_id: shownText(),
          opened_at: shownText(),
          at: shownText("When the entry was written."),
          actor: shownText("Who did what the entry says."),
          operation: shownText(),
        }),
      ),
    }),
  },
  openReview: {
    method: "POST",
    path: "/audit/reviews",
    tag: "Audit",
    summary: "Open a review of an audit entry, whose evidence remains readable until the review is closed",
    permission: "audit.review",
    operation: "audit.review",
    access: "change",
    body: object({ entry_id: uuid("Id of the entry."), reason }),
    answer: object({ review_id: shownText() }),
    problems: ["not-found"],
  },
  closeReview: {
    method: "POST",
    path: "/audit/reviews/{review_id}/close",
    tag: "Audit",
    summary: "Close a review, with its result",
    description: "A person can't close the review of an entry about their own action.",
    permission: "audit.review",
    operation: "audit.review",
    access: "change",
    params: object({ review_id: uuid("Id of the review.") }),
    body: object({ reason }),
    answer: object({ review_id: shownText() }),
    problems: ["not-found", "state-conflict"],
  },
} as const satisfies Readonly<Record<string, Route>>;
