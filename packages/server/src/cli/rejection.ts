import { PROBLEMS } from "@device-risk-signals/contract";
import type { Command } from "commander";
import type { Context } from "./context.ts";
import { wordOf } from "./options.ts";
import { groupOf, HOURS, routeList } from "./route-command.ts";

export function rejectionCommand(context: Context): Command {
  return groupOf(
    "rejection",
    "drs rejection list",
    routeList(context, {
      name: "list",
      route: "listRejections",
      rows: "rejections",
      help: "List numbers of rejected requests, newest hour first.",
      options: {
        ...HOURS,
        problem: { flags: "--problem <code>", help: "of this problem", read: wordOf(Object.keys(PROBLEMS)) },
        sdk_version: { flags: "--sdk-version <version>", help: "of this SDK version" },
      },
      limit: 100,
      empty: "No rejections.",
      examples: ["drs rejection list --problem request-invalid"],
    }),
    routeList(context, {
      name: "recent",
      route: "listRecentRejections",
      rows: "rejections",
      help: "List rejected requests of the last day, newest first. Audited.",
      columns: ({ at, status, problem, cause, rules: [first], sdk_version, account }) => ({
        at,
        status,
        problem,
        rule: first?.violation ?? cause,
        place: first?.place ?? null,
        sdk_version,
        account,
      }),
      options: {
        account: "of this account",
        problem: { flags: "--problem <code>", help: "of this problem", read: wordOf(Object.keys(PROBLEMS)) },
        sdk_version: { flags: "--sdk-version <version>", help: "of this SDK version" },
      },
      limit: 100,
      empty: "No rejections.",
      examples: ["drs rejection recent --account customer-1"],
    }),
    routeList(context, {
      name: "summary",
      route: "summarizeRejections",
      rows: "rejections",
      help: "Sum rejected requests by problem, rule and place, over days.",
      options: HOURS,
      empty: "No rejections.",
      examples: ["drs rejection summary --from -14d"],
      end: ({ more }) => (more ? "There are more rows: choose a shorter time." : undefined),
    }),
  );
}
