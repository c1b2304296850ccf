import type { Answer } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { requireBreakGlass } from "./break-glass.ts";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { example, uuid } from "./options.ts";
import { printRows } from "./table.ts";
import { addWhy, whyOf, type WhyOptions } from "./why.ts";

interface CompareOptions extends WhyOptions {
  readonly all?: boolean;
  readonly json?: boolean;
}

/** `drs event compare`. */
export function compareCommand(context: Context): Command {
  const command = new Command("compare")
    .description("Show which observations of two events differ. Audited.")
    .argument("<event-id>", "as the endpoint answered it", uuid)
    .argument("<other-event-id>", "the event to compare it with", uuid)
    .option("--all", "also what is equal, and what can't be compared")
    .addHelpText("after", example("drs event compare 019a…-… 019b…-… --case 5f0c2b9e-…"));
  return addWhy(context, command)
    .option("--json", "print one JSON object")
    .action(async (event_id: string, other_event_id: string, options: CompareOptions, self: Command) => {
      const { all, json } = options;
      const input = { event_id, other_event_id, ...(all && { all }), ...whyOf(options, self) };
      const compared = await call(requireBreakGlass(context, options), "compareEvents", input);
      if (json) return printJson(context, compared);
      const { differences, fields, withheld } = compared;
      const rows = (fields ?? differences).map(({ left, right, ...row }) => {
        return { ...row, left: textOf(left), right: textOf(right) };
      });
      printRows(context, rows, fields ? "Both events are empty." : "No differences.");
      if (withheld.length > 0) print(context, `Not compared: ${withheld.join(", ")}.`);
    });
}

type ComparedValue = Answer<"compareEvents">["differences"][number]["left"];

/**
 * Values are printed as JSON, so that the observed text "omitted" (with quotes) differs from the state omitted
 * (without).
 */
function textOf(side: ComparedValue): string {
  if (side.state === "observed") return JSON.stringify(side.value);
  if (side.state === "skipped") return `skipped: ${JSON.stringify(side.reason)}`;
  if (side.state === "error") return `error: ${JSON.stringify(side.error)}`;
  return side.state;
}
