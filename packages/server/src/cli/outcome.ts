import { LIMITS, PLATFORMS } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { Command } from "commander";
import { withCalls } from "./call.ts";
import type { Context } from "./context.ts";
import { count, example, name, time, wordOf } from "./options.ts";
import { type PageOptions, printPages } from "./pages.ts";

const PROBE_CHOICES = [...CATALOG.map(({ id }) => id), "other"];

interface ListOptions extends PageOptions {
  /** Milliseconds since the Unix epoch. */
  readonly from?: number;
  readonly to?: number;
  readonly sdkVersion?: string;
  readonly platform?: (typeof PLATFORMS)[number];
  readonly probe?: string;
}

export function outcomeCommand(context: Context): Command {
  const command = new Command("outcome")
    .description("Outcomes of the probes of stored events, counted by hour; no values.")
    .addHelpText("after", example("drs outcome list"));
  command
    .command("list")
    .description("List numbers of events by outcome, newest hour first.")
    .option("--from <time>", "only hours that end after this time, such as 2027-01-31", time)
    .option("--to <time>", "only hours that begin before this time", time)
    .option("--platform <platform>", PLATFORMS.join(" or "), wordOf(PLATFORMS))
    .option("--sdk-version <version>", "of this SDK version", name("an SDK version", LIMITS.sdkVersion))
    .option("--probe <id>", "of this probe; other = unknown probes", wordOf(PROBE_CHOICES))
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 100)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs outcome list --probe geolocation --from 2027-01-31"))
    .action(({ from, to, sdkVersion, probe, platform, ...page }: ListOptions) => {
      const filter = {
        ...(from !== undefined && { from: new Date(from).toISOString() }),
        ...(to !== undefined && { to: new Date(to).toISOString() }),
        ...(sdkVersion !== undefined && { sdk_version: sdkVersion }),
        ...(probe !== undefined && { probe }),
        ...(platform !== undefined && { platform }),
      };
      return withCalls(context, "read", (call) =>
        printPages(
          context,
          async (position) => {
            const { outcomes, next } = await call("listOutcomes", { ...filter, ...position });
            return { rows: outcomes, next };
          },
          page,
          "No outcomes.",
        ),
      );
    });
  return command;
}
