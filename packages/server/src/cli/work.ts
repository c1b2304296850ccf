import type { Answer } from "@device-risk-signals/admin-api";
import type { Command } from "commander";
import { describeAge } from "../base/messages/duration.ts";
import type { Context } from "./context.ts";
import { groupOf, routeList } from "./route-command.ts";

type Work = Answer<"listWork">["work"][number];

export function workCommand(context: Context): Command {
  return groupOf(
    "work",
    "drs work list",
    routeList(context, {
      name: "list",
      route: "listWork",
      rows: "work",
      help: "List what runs or waits, oldest first, and what it waits for.",
      empty: "Nothing runs, and nothing waits.",
      columns: ({ kind, state, done, of, unit, age_seconds, waits_for }: Work) => ({
        kind,
        state,
        progress: progressOf({ done, of, unit }),
        age: age_seconds === null ? null : describeAge(age_seconds),
        waits_for,
      }),
      uncut: "waits_for",
      end: ({ more }) => (more.length === 0 ? undefined : `There is more of ${more.join(", ")} than the list has.`),
      examples: ["drs work list", "drs work list --wide"],
    }),
  );
}

function progressOf({ done, of, unit }: Pick<Work, "done" | "of" | "unit">): string | null {
  if (done === null && of === null) return null;
  const counted = done === null ? `${of}` : of === null ? `${done}` : `${done} of ${of}`;
  return `${counted} ${unit}`;
}
