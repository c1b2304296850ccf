import { PLATFORMS } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Command } from "commander";
import type { Context } from "./context.ts";
import { wordOf } from "./options.ts";
import { groupOf, HOURS, routeList } from "./route-command.ts";

const PROBE = wordOf([...CATALOG.map(({ id }) => id), "other"]);

export function outcomeCommand(context: Context): Command {
  return groupOf(
    "outcome",
    "drs outcome list",
    routeList(context, {
      name: "list",
      route: "listOutcomes",
      rows: "outcomes",
      help: "List numbers of events by outcome, newest hour first.",
      options: {
        ...HOURS,
        platform: { help: PLATFORMS.join(" or "), read: wordOf(PLATFORMS) },
        sdk_version: { flags: "--sdk-version <version>", help: "of this SDK version" },
        probe: {
          flags: "--probe <id>",
          help: "of this probe; other = unknown probes",
          read: PROBE,
        },
      },
      limit: 100,
      empty: "No outcomes.",
      examples: ["drs outcome list --probe geolocation --from 2027-01-31"],
    }),
    routeList(context, {
      name: "summary",
      route: "summarizeOutcomes",
      rows: "outcomes",
      help: "Sum numbers of events by outcome, in groups, over days.",
      options: {
        by: { help: "what the groups have in common", fallback: ["sdk_version", "sdk_version"] },
        ...HOURS,
        platform: { help: PLATFORMS.join(" or "), read: wordOf(PLATFORMS) },
        sdk_version: { flags: "--sdk-version <version>", help: "of this SDK version" },
        probe: { flags: "--probe <id>", help: "of this probe; other = unknown probes", read: PROBE },
      },
      empty: "No outcomes.",
      examples: ["drs outcome summary --by sdk_version --from -14d"],
      end: ({ more }) => (more ? "There are more rows: choose a shorter time." : undefined),
    }),
  );
}
