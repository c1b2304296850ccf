import { Command } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { accessOf, withCalls } from "./call.ts";
import { type Context, print, printJson, printText } from "./context.ts";
import { showInstallation } from "./local.ts";
import { example, name, time, TIMES, uuid } from "./options.ts";
import { printRows } from "./table.ts";

interface Options extends BreakGlassOptions {
  readonly from?: number;
  readonly to?: number;
  readonly purpose?: string;
  readonly json?: boolean;
}

/** `drs feature verify`. */
export function verifyFeaturesCommand(context: Context): Command {
  return new Command("verify")
    .description("Compute stored values again, and archived fixtures on two engines. Audited.")
    .argument("[event]", "event id; without it, all events that have not expired", uuid)
    .option("--from <time>", `only events that were received at or after this time: ${TIMES}`, time(context.clock))
    .option("--to <time>", "only events that were received before this time", time(context.clock))
    .option("--purpose <id>", "only events of this purpose", name("a purpose", 64))
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example("drs feature verify 019a2b7e-…", "drs feature verify --from 2027-01-31 --to 2027-02-01"),
    )
    .action(async (event: string | undefined, { from, to, purpose, json = false, ...options }: Options) => {
      if (event !== undefined && (from ?? to ?? purpose) !== undefined) {
        throw new OperatorError("wrong-usage", "An event id can't be combined with --from, --to or --purpose.");
      }
      const verifying = requireBreakGlass(context, options);
      const answer = await withCalls(verifying, accessOf("verifyFeatures", {}), async (call) => {
        await showInstallation(verifying, call);
        return call("verifyFeatures", {
          ...(event !== undefined && { event_id: event }),
          ...(from !== undefined && { from: new Date(from).toISOString() }),
          ...(to !== undefined && { to: new Date(to).toISOString() }),
          ...(purpose !== undefined && { purpose }),
        });
      });
      const { events, rows, equal, different, undecided, differences, programs } = answer;
      const problems = programs.flatMap((program) => program.problems);
      if (json) printJson(context, answer);
      else {
        const counts = `${equal} equal, ${different} different, ${undecided} undecided`;
        print(context, `${plural(events, "event")}, ${plural(rows, "row")} of values: ${counts}.`);
        if (differences.length > 0) printRows(context, differences, "");
        const cases = programs.reduce((total, program) => total + program.cases, 0);
        print(context, `${plural(programs.length, "program")}, ${plural(cases, "case")} on each of two engines.`);
        for (const problem of problems) printText(context, problem);
      }
      if (different + problems.length > 0) {
        throw new OperatorError(
          "features-differ",
          "Stored values or archived programs gave other results when they were computed again.",
        );
      }
    });
}
