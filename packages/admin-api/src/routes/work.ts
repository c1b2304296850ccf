import { type Static, Type } from "typebox";
import type { Route } from "../route.ts";
import { count, nullable, object, shape, shownText } from "../schemas.ts";

export const WORK_KINDS = [
  "approval",
  "backfill",
  "erasure",
  "export",
  "extraction",
  "hold",
  "order",
  "retention",
  "rotation",
  "verification",
] as const;

/** Maximum number of pieces of work of one kind that the list has: together at most 200. */
export const MAX_WORK_OF_KIND = 20;

const work = shape("Work", {
  kind: Type.Enum([...WORK_KINDS]),
  id: nullable(shownText("Id of what it is about, as its own list shows it; null for work of the whole installation.")),
  state: Type.Enum(["running", "waiting"], {
    description:
      "Erasures, retention and rotation run one after another, under one lock: `running` says that a process has the lock.",
  }),
  done: nullable(count("How much is done; null: not known.")),
  of: nullable(count("How much there is to do, with what is done; null: not known.")),
  unit: shownText("What `done` and `of` count."),
  started_at: nullable(shownText("Null: not known.")),
  age_seconds: nullable(count("Seconds since `started_at`.")),
  started_by: nullable(shownText("Null: the server itself, or not known.")),
  waits_for: nullable(shownText("What it waits for, with the next command; null while it runs.")),
});
export type WorkRecord = Static<typeof work>;

export const WORK_ROUTES = {
  listWork: {
    method: "GET",
    path: "/work",
    tag: "Work",
    summary: "What runs or waits, oldest first: progress, who started it, what it waits for",
    description:
      `At most ${MAX_WORK_OF_KIND} of each kind. No account is named. Exports are listed for a day, and ` +
      "features of new events if they wait for more than a minute.",
    permission: "work.read",
    operation: "work.list",
    access: "read",
    answer: object({
      work: Type.Array(work),
      more: Type.Array(Type.Enum([...WORK_KINDS]), { description: "Kinds of which there is more than the list has." }),
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
