import { Command } from "commander";
import { listDrift } from "../drift/drift.ts";
import { type Context, printRows, withConnection } from "./context.ts";
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
      const rows = await withConnection(context, "read", ({ pool }) => listDrift(pool));
      printRows(context, rows, options.json ?? false, "No departures from the catalog.");
    });
  return command;
}
