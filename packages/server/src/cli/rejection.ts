import { LIMITS, type ProblemCode, PROBLEMS } from "@device-risk-signals/contract";
import { Command } from "commander";
import { listRejections, type RejectionFilter, type RejectionRow, type PageOf } from "../counters/list-counts.ts";
import { type Context, withConnection } from "./context.ts";
import { count, example, name, time, wordOf } from "./options.ts";
import { type PageOptions, printPages } from "./print-pages.ts";

export function rejectionCommand(context: Context): Command {
  const command = new Command("rejection")
    .description("Rejected requests, counted by hour; no values.")
    .addHelpText("after", example("drs rejection list"));
  command
    .command("list")
    .description("List numbers of rejected requests, newest hour first.")
    .option("--from <time>", "hours from this time on, such as 2027-01-31", time)
    .option("--to <time>", "hours before this time", time)
    .option("--problem <code>", "of this problem", wordOf(Object.keys(PROBLEMS) as ProblemCode[]))
    .option("--sdk-version <version>", "of this SDK version", name("an SDK version", LIMITS.sdkVersion))
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 100)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs rejection list --problem request-invalid"))
    .action(({ limit, json, ...filter }: RejectionFilter & PageOptions) =>
      withConnection(context, "read", ({ pool }) =>
        printPages(
          context,
          (page: PageOf<RejectionRow>) => listRejections(pool, filter, page),
          { limit, ...(json && { json }) },
          "No rejections.",
        ),
      ),
    );
  return command;
}
