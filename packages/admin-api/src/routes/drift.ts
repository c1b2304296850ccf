import { Type } from "typebox";
import type { Route } from "../route.ts";
import { count, object, shownText } from "../schemas.ts";

export const DRIFT_ROUTES = {
  listDrift: {
    method: "GET",
    path: "/drift",
    tag: "Counters",
    summary: "Departures of stored events from the catalog, most frequent first",
    permission: "counters.read",
    operation: "drift.list",
    access: "read",
    answer: object({
      drift: Type.Array(
        object({
          path: shownText("Malformed names are counted under *."),
          json_type: shownText(),
          platform: shownText(),
          sdk_version: shownText(),
          first_seen: shownText(),
          last_seen: shownText(),
          occurrences: count(),
        }),
      ),
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
