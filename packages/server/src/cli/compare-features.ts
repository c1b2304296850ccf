import { Command } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { call } from "./call.ts";
import { comparePage, totalsOf } from "./compare-page.ts";
import { type Context, print, printJson } from "./context.ts";
import { featureName } from "./feature-name.ts";
import { example, name, time, uuid } from "./options.ts";
import { printRows } from "./table.ts";
import { writePage } from "./write-page.ts";

interface Options extends BreakGlassOptions {
  readonly purpose: string;
  readonly all?: boolean;
  readonly since?: number;
  readonly case?: string;
  readonly html?: string;
  readonly json?: boolean;
}

/** `drs feature compare`. */
export function compareFeaturesCommand(context: Context): Command {
  return new Command("compare")
    .description("Compute two versions of a feature for the same events. Audited.")
    .argument("<before>", "such as root_traces@1", featureName)
    .argument("<after>", "such as root_traces@2; it need not be adopted", featureName)
    .requiredOption("--purpose <id>", "purpose of the events", name("a purpose", 64))
    .option("--all", "all events that have not expired")
    .option(
      "--since <time>",
      "events that were received at or after this time; without --case, after the start of its day in UTC",
      time(context.clock),
    )
    .option(
      "--case <id>",
      "your open case: only the events of the case's account, with all numbers of fields that you may read",
      uuid,
    )
    .option("--html <file>", "write a page with plots, too")
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs feature compare root_traces@1 root_traces@2 --purpose payments --all"))
    .action(async (before: string, after: string, options: Options) => {
      const { purpose, all = false, since, case: caseId, html, json = false } = options;
      if (all === (since !== undefined)) {
        throw new OperatorError("wrong-usage", "Give either --all or --since.");
      }
      const compared = await call(requireBreakGlass(context, options), "compareFeatures", {
        before,
        after,
        purpose,
        ...(since !== undefined && { from: new Date(since).toISOString() }),
        ...(caseId !== undefined && { case_id: caseId }),
      });
      if (html !== undefined) await writePage(context, html, comparePage(compared));
      if (json) return printJson(context, compared);
      const rows = compared.cells.map(({ events, ...cell }) => ({ ...cell, events: events ?? "not shown" }));
      printRows(context, rows, "No events.");
      print(context, `Total: ${totalsOf(compared)}.`);
    });
}
