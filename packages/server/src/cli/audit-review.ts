import type { Command } from "commander";
import { type Context, print, printText } from "./context.ts";
import { printRows } from "./table.ts";
import { plural } from "../base/messages/plural.ts";
import { pastDate } from "./options.ts";
import { routeCommand } from "./route-command.ts";

/** `drs audit review`. */
export const auditReviewCommand = (context: Context): Command =>
  routeCommand(context, {
    name: "review",
    route: "reviewReads",
    help: "Report who opened events and why, for a review each week. Audited.",
    options: {
      since: {
        flags: "--since <date>",
        help: "from this day on; by default 7 days ago",
        read: pastDate(context.clock),
      },
    },
    examples: ["drs audit review", "drs audit review --since 2026-01-31 --json"],
    show: ({ reads, unverified_entries: unverified, repeated_reasons, unused_cases }) => {
      print(context, "Events that were opened, and use of the database itself (via direct):");
      printRows(context, reads, "None.");
      if (unverified > 0) {
        const entries = plural(unverified, "more entry has", "more entries have");
        print(context, `${entries} no valid MAC and count as no person's acts: run drs audit verify.`);
      }
      printText(context, "\nReasons that one person gave for several cases:");
      printRows(context, repeated_reasons, "None.");
      printText(context, "\nCases that no event was opened with:");
      printRows(context, unused_cases, "None.");
    },
  });
