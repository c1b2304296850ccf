import { Type } from "typebox";
import { purpose } from "../feature-schemas.ts";
import type { Route } from "../route.ts";
import { count, limit, nullable, object, reason, shape, shownText, time, uuid } from "../schemas.ts";

const TAG = "Features";

const counts = {
  live: count("Events of the balanced chunks."),
  stored: count("Of these, with a row of features."),
  erased: count("Of these, erased meanwhile."),
  expired: count("Of these, past a retention period: only a hold keeps them, or they are not deleted yet."),
  restricted: count("Of these, restricted."),
  unreadable: count("Of these, that can't be opened."),
  failed: count("Of these, whose computation failed."),
  missing: count("Of these, events that are none of the above: 0 unless something is wrong."),
  deleted: count(
    "Events that expired or were erased during the run, less the events that were stored late. `live` does not count these deleted events.",
  ),
};

const backfill = shape("Backfill", {
  run_id: shownText(),
  purpose: shownText("Purpose, by its id."),
  layers: Type.Array(count()),
  from: shownText(),
  to: shownText(),
  rate: nullable(count("Maximum number of events per second.")),
  state: Type.Enum(["running", "paused", "cancelled", "done"]),
  started_at: shownText(),
  started_by: shownText(),
  reason: shownText(),
  ended_at: nullable(shownText()),
  events: count("Events of its chunks."),
  computed: count("Of these, events that a worker has visited."),
  remaining_seconds: nullable(Type.Number({ description: "Null while it is not known." })),
  balance: shape("Balance", counts),
  balances: Type.Array(shape("LayerBalance", { layer: count(), ...counts }), {
    description: "The balance of each layer.",
  }),
});
const ofBackfill = { params: object({ run_id: uuid("Id of the backfill.") }) };
const changeOfBackfill = {
  ...ofBackfill,
  method: "POST",
  tag: TAG,
  permission: "backfills.manage",
  access: "change",
  answer: backfill,
  problems: ["not-found", "state-conflict"],
} as const;

export const BACKFILL_ROUTES = {
  startBackfill: {
    method: "POST",
    path: "/features/backfills",
    tag: TAG,
    summary: "Start a backfill: workers compute the features of stored events",
    permission: "backfills.manage",
    operation: "backfill.start",
    access: "change",
    body: object({
      purpose,
      layer: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "An active layer of it; by default all." }),
      ),
      from: Type.Optional(time("Events received at or after this time.")),
      to: Type.Optional(time("Events received before this time; by default the present.")),
      rate: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1_000_000, description: "Maximum number of events per second." }),
      ),
      reason,
    }),
    answer: backfill,
    problems: ["not-found"],
  },
  listBackfills: {
    method: "GET",
    path: "/features/backfills",
    tag: TAG,
    summary: "Backfills, newest first, with their progress and their balance",
    permission: "backfills.read",
    operation: "backfill.list",
    access: "read",
    query: object({ run_id: Type.Optional(uuid("Id of one backfill.")), limit }),
    answer: object({ backfills: Type.Array(backfill) }),
    problems: ["not-found"],
  },
  pauseBackfill: {
    ...changeOfBackfill,
    path: "/features/backfills/{run_id}/pause",
    summary: "Pause a backfill",
    operation: "backfill.pause",
  },
  resumeBackfill: {
    ...changeOfBackfill,
    path: "/features/backfills/{run_id}/resume",
    summary: "Resume a paused backfill where it was",
    operation: "backfill.resume",
  },
  cancelBackfill: {
    ...changeOfBackfill,
    path: "/features/backfills/{run_id}/cancel",
    summary: "Cancel a backfill; what it stored stays",
    operation: "backfill.cancel",
  },
} as const satisfies Readonly<Record<string, Route>>;
