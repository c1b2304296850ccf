import { LIMITS, type ProblemCode, PROBLEMS } from "@device-risk-signals/contract";
import { Command } from "commander";
import { withCalls } from "./call.ts";
import type { Context } from "./context.ts";
import { count, example, name, time, wordOf } from "./options.ts";
import { type PageOptions, printPages } from "./pages.ts";

interface ListOptions extends PageOptions {
  /** Milliseconds since the Unix epoch. */
  readonly from?: number;
  readonly to?: number;
  readonly sdkVersion?: string;
  readonly problem?: ProblemCode;
}

export function rejectionCommand(context: Context): Command {
  const command = new Command("rejection")
    .description("Rejected requests, counted by hour; no values.")
    .addHelpText("after", example("drs rejection list"));
  command
    .command("list")
    .description("List numbers of rejected requests, newest hour first.")
    .option("--from <time>", "only hours that end after this time, such as 2027-01-31", time)
    .option("--to <time>", "only hours that begin before this time", time)
    .option("--problem <code>", "of this problem", wordOf(Object.keys(PROBLEMS) as ProblemCode[]))
    .option("--sdk-version <version>", "of this SDK version", name("an SDK version", LIMITS.sdkVersion))
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 100)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs rejection list --problem request-invalid"))
    .action(({ from, to, sdkVersion, problem, ...page }: ListOptions) => {
      const filter = {
        ...(from !== undefined && { from: new Date(from).toISOString() }),
        ...(to !== undefined && { to: new Date(to).toISOString() }),
        ...(sdkVersion !== undefined && { sdk_version: sdkVersion }),
        ...(problem !== undefined && { problem }),
      };
      return withCalls(context, "read", (call) =>
        printPages(
          context,
          async (position) => {
            const { rejections, next } = await call("listRejections", { ...filter, ...position });
            return { rows: rejections, next };
          },
          page,
          "No rejections.",
        ),
      );
    });
  return command;
}
