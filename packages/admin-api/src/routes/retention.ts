import { Type } from "typebox";
import type { Route } from "../route.ts";
import { count, nullable, object, shape, shownText } from "../schemas.ts";

const TAG = "Retention";

const counts = {
  partitions: count("Dropped partitions."),
  rows: count("Deleted events."),
  bytes: count("Bytes of the dropped partitions."),
  secrets: count("Destroyed secrets."),
  keys: count("Deleted idempotency keys past the replay window."),
  copies: count("Deleted copies that no hold covers any more."),
  features: count("Deleted rows of feature values."),
};
const overdue = {
  overdue_partitions: count("Expired partitions that are not dropped."),
  overdue_rows: count("Expired events that are deleted row by row."),
};

export const RETENTION_ROUTES = {
  readOverdue: {
    method: "GET",
    path: "/retention/overdue",
    tag: TAG,
    summary: "What a retention pass would delete now",
    permission: "maintenance.run",
    operation: "retention.plan",
    access: "read",
    answer: object(overdue),
  },
  runRetention: {
    method: "POST",
    path: "/retention/runs",
    tag: TAG,
    summary: "Run a retention pass now",
    description: "It deletes only what no read finds any more.",
    permission: "maintenance.run",
    operation: "retention.run",
    access: "change",
    appliedBy: "worker",
    isRepeatable: true,
    answer: object({
      ...counts,
      deleted: count("Rows that were deleted one by one, because other rows need their secrets."),
      held: count("Events of dropped partitions that a hold keeps in a copy; `rows` does not count them."),
      destroyed_keys: Type.Array(shownText(), {
        description: "Ids of partitions and holds whose secrets are destroyed.",
      }),
    }),
    problems: ["state-conflict"],
  },
  readRetention: {
    method: "GET",
    path: "/retention",
    tag: TAG,
    summary: "What is overdue, and the last passes that deleted something",
    permission: "governance.read",
    operation: "retention.status",
    access: "read",
    answer: object({
      overdue_partitions: overdue.overdue_partitions,
      lag_seconds: Type.Number({ description: "Seconds since the oldest of them expired." }),
      secrets_to_destroy: count("Dropped partitions whose secret is not destroyed."),
      last_run_at: nullable(shownText()),
      overdue_rows: overdue.overdue_rows,
      runs: Type.Array(
        shape("RetentionRun", {
          run_id: shownText(),
          started_at: shownText(),
          finished_at: shownText(),
          actor: shownText(),
          ...counts,
        }),
      ),
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
