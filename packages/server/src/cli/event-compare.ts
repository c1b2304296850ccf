import { type Answer, CATEGORIES } from "@device-risk-signals/admin-api";
import { Command, Option } from "commander";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { call } from "./call.ts";
import { type Context, print, printJson, printRows } from "./context.ts";
import { example, ticket, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";
import { whyOf, type WhyOptions } from "./why.ts";

interface CompareOptions extends WhyOptions, BreakGlassOptions {
  readonly json?: boolean;
}

/** `drs event compare`. */
export function compareCommand(context: Context): Command {
  return new Command("compare")
    .description("Show which observations of two events differ. Audited.")
    .argument("<event-id>", "as the endpoint answered it", uuid)
    .argument("<other-event-id>", "the event to compare it with", uuid)
    .addOption(
      new Option("--case <case-id>", "an open case that covers both")
        .argParser(uuid)
        .conflicts(["reason", "category", "ticket"]),
    )
    .option("--reason <text>", "why; opens a case of each event", reasonReader(context))
    .addOption(new Option("--category <category>", "kind of these cases").choices(CATEGORIES))
    .option("--ticket <ticket>", "ticket of these cases", ticket)
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs event compare 019a…-… 019b…-… --case 5f0c2b9e-…"))
    .action(async (event_id: string, other_event_id: string, options: CompareOptions, self: Command) => {
      if (options.reason === undefined && options.case === undefined) {
        self.error("error: --reason or --case is needed: a comparison opens both events");
      }
      const input = { event_id, other_event_id, ...whyOf(options) };
      const compared = await call(requireBreakGlass(context, options), "compareEvents", input);
      if (options.json) return printJson(context, compared);
      const rows = compared.differences.map(({ path, left, right }) => {
        return { path, left: textOf(left), right: textOf(right) };
      });
      printRows(context, rows, false, "No differences.");
      if (compared.withheld.length > 0) print(context, `Not compared: ${compared.withheld.join(", ")}.`);
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
