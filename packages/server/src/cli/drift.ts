import { Command } from "commander";
import { call } from "./call.ts";
import { type Context, printRows } from "./context.ts";
import { example } from "./options.ts";

export function driftCommand(context: Context): Command {
  const command = new Command("drift")
    .description("Departures of stored events from the catalog, counted; no values.")
    .addHelpText("after", example("drs drift list"));
  command
    .command("list")
    .description("List departures, most frequent first. Malformed names are counted under *.")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs drift list"))
    .action(async (options: { json?: boolean }) => {
      const { drift } = await call(context, "listDrift", {});
      printRows(context, drift, options.json ?? false, "No departures from the catalog.");
    });
  return command;
}
