import { Command } from "commander";
import { call } from "./call.ts";
import { type Context, print, printJson, printRows, printText } from "./context.ts";
import { plural } from "../base/messages/plural.ts";
import { example, pastDate } from "./options.ts";

interface ReviewOptions {
  readonly since?: string;
  readonly json?: boolean;
}

/** `drs audit review`. */
export function auditReviewCommand(context: Context): Command {
  return new Command("review")
    .description("Report who opened events and why, for a review each week. Audited.")
    .option("--since <date>", "from this day on; by default 7 days ago", pastDate(context.clock))
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs audit review", "drs audit review --since 2026-01-31 --json"))
    .action(async ({ since, json = false }: ReviewOptions) => {
      const report = await call(context, "reviewReads", since === undefined ? {} : { since });
      if (json) return printJson(context, report);
      print(context, "Events that were opened, and use of the database itself (via direct):");
      printRows(context, report.reads, false, "None.");
      const { unverified_entries: unverified } = report;
      if (unverified > 0) {
        const entries = plural(unverified, "more entry has", "more entries have");
        print(context, `${entries} no valid MAC and count as no person's acts: run drs audit verify.`);
      }
      printText(context, "\nReasons that one person gave for several cases:");
      printRows(context, report.repeated_reasons, false, "None.");
      printText(context, "\nCases that no event was opened with:");
      printRows(context, report.unused_cases, false, "None.");
    });
}
