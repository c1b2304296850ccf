import { Type } from "typebox";
import type { Route } from "../route.ts";
import {
  account,
  actionId,
  count,
  dryRun,
  eventId,
  nonEmptyText,
  nullable,
  object,
  reason,
  shape,
  shownText,
} from "../schemas.ts";

const TAG = "Erasures";

const subject = {
  account: Type.Optional(account),
  purpose: Type.Optional(nonEmptyText(64, "Purpose, by its id; with `account`.")),
  action_id: Type.Optional(actionId),
  event_id: Type.Optional(eventId),
};

const exported = shape("ExportedRows", {
  export_id: shownText(),
  recipient: shownText(),
  rows: count("Rows that the recipient must delete."),
});

const plan = shape("ErasurePlan", {
  events: count("Events that it deletes, copies that holds made included."),
  held: count("Events that a hold covers: they are deleted when the last hold ends."),
  still_held: count("Copies of events that were erased before and that a hold still keeps."),
  released: count("Copies whose hold has ended: the next retention pass deletes them."),
  idempotency_keys: count(),
  tokens: count(),
  actions: count(),
  keys: count("Secrets that its events are sealed under."),
  features: count("Rows of feature values, also of events that have expired."),
  derived_only: count("Events that have expired, of which only feature values are left."),
  exports: Type.Array(exported, {
    description: "Exports that have values of the subject. The erasure opens a recall of each.",
  }),
});

const erasure = shape("Erasure", {
  sequence: count(),
  erasure_id: shownText(),
  kind: shownText(),
  subject_mac: nullable(shownText("Keyed MAC of what was erased, in hexadecimal.")),
  began_at: shownText(),
  finished_at: nullable(shownText()),
  completed_at: nullable(shownText("When the last copy that a hold kept of it was deleted.")),
  actor: shownText(),
  reason: shownText(),
  events: count(),
  idempotency_keys: count(),
  tokens: count(),
  actions: count(),
  held: count("Events that a hold kept when it began."),
  copies: count("Held copies that the erasure deleted. The secret of their hold also opens its other copies."),
  unreadable: count("Held events that could not be opened, and therefore not copied. They were deleted."),
  features: count("Deleted rows of feature values."),
  still_held: count("Events that a hold still keeps."),
  released: count("Copies whose hold has ended: the next retention pass deletes them."),
  destroyed_keys: Type.Array(shownText(), { description: "Ids of the destroyed secrets." }),
  lost_keys: Type.Array(shownText(), { description: "Ids of secrets that had been lost before." }),
});

export const ERASURE_ROUTES = {
  listErasures: {
    method: "GET",
    path: "/erasures",
    tag: TAG,
    summary: "List erasures, newest first: all, or the erasures of one subject",
    permission: "governance.read",
    operation: "erase.list",
    access: "read",
    query: object(subject),
    answer: object({ erasures: Type.Array(erasure) }),
    problems: ["not-found"],
  },
  planErasure: {
    method: "GET",
    path: "/erasures/plan",
    tag: TAG,
    summary: "What an erasure would delete, and what a hold keeps",
    permission: "governance.read",
    operation: "erase.plan",
    access: "read",
    query: object(subject),
    answer: plan,
    problems: ["not-found"],
  },
  runErasure: {
    method: "POST",
    path: "/erasures",
    tag: TAG,
    summary: "Erase an account, an account under one purpose, the events of an action, or one event",
    description:
      "Exactly one of `account`, `action_id` and `event_id` says what is erased. A call that is repeated finishes what it " +
      "began, and answers with the same erasure. An erasure of many events needs an approval first.",
    permission: "governance.change",
    operation: "erase.run",
    breakGlass: true,
    recentSignIn: true,
    access: "change",
    appliedBy: "worker",
    isRepeatable: true,
    body: object({
      ...subject,
      reason,
      refuse_later: Type.Optional(Type.Boolean({ description: "Refuses later events of the account, too." })),
      unknown: Type.Optional(
        Type.Boolean({
          description:
            "Erases a subject of which nothing is known here, too, because a backup may have it. Without it the answer is 404.",
        }),
      ),
      only_finish: Type.Optional(
        Type.Boolean({ description: "Finishes and answers with an erasure that was started, and starts none." }),
      ),
      dry_run: dryRun,
    }),
    answer: object({
      plan,
      is_known: Type.Boolean({
        description:
          "Whether anything is stored of the subject, or it was erased before. The erasure of an unknown subject applies to backups.",
      }),
      is_needed: Type.Boolean({
        description: "Whether there was something to erase or to refuse, here or in a backup.",
      }),
      erasure: nullable(erasure),
      receipt: nullable(shownText("Its signed receipt; null while it is not finished.")),
      still_held: count("Events of the subject that a hold keeps now."),
      recalls: Type.Array(exported, { description: "Exports that it recalls, until each is acknowledged." }),
    }),
    problems: ["not-found", "state-conflict"],
  },
  acceptJournalLoss: {
    method: "POST",
    path: "/erasures/accept-loss",
    tag: TAG,
    summary: "Accept that an entry of the erasure journal is permanently lost",
    permission: "governance.change",
    operation: "erase.accept-loss",
    access: "change",
    appliedBy: "worker",
    body: object({
      entry: Type.Integer({ minimum: 1, maximum: 999_999_999, description: "The entry that a message names." }),
      reason,
      dry_run: dryRun,
    }),
    answer: object({ entry: count() }),
    problems: ["state-conflict"],
  },
} as const satisfies Readonly<Record<string, Route>>;
