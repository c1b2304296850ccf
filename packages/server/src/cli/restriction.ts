import type { Command } from "commander";
import { plural } from "../base/messages/plural.ts";
import type { Context } from "./context.ts";
import { pastDay } from "./options.ts";
import { groupOf, routeCommand, routeList } from "./route-command.ts";
import type { IdList } from "./short-id.ts";

const IDS: IdList = { list: "listRestrictions", rows: "restrictions", id: "restriction_id" };

export function restrictionCommand(context: Context): Command {
  return groupOf(
    "restriction",
    "drs restriction list",
    routeCommand(context, {
      name: "add",
      route: "addRestriction",
      options: {
        account: "the account to restrict",
        article: { flags: "--article <number>", help: "of the GDPR: 18 restriction, 21 objection" },
        purpose: { flags: "--purpose <id>", help: "only the events of this purpose" },
        reason: "why",
        approver: "who decided it; required without --request",
        request_id: { flags: "--request <request-id>", help: "the open data request that asks for it" },
        dry_run: "say what it would hide, and place nothing",
      },
      problem: ({ approver, request_id }) =>
        approver === undefined && request_id === undefined
          ? "give --approver or --request, to say who decided"
          : undefined,
      examples: [
        'drs restriction add --account customer-1 --article 18 --reason "disputes the accuracy" --approver "J. Doe"',
        'drs restriction add --account customer-1 --article 21 --purpose fraud --reason "objection 17" --request 5f0c2b9e-…',
      ],
      lines: ({ restriction_id, events }, { dry_run }) =>
        dry_run
          ? `It would hide ${plural(events, "event")}. Nothing was changed.`
          : `Restriction ${restriction_id} hides ${plural(events, "event")} from analysis.`,
    }),
    routeList(context, {
      name: "list",
      route: "listRestrictions",
      rows: "restrictions",
      help: "List restrictions, active ones first.",
      options: { account: "only restrictions of this account" },
      empty: "No restrictions.",
      shortened: "restriction_id",
      columns: ["restriction_id", "account", "article", "active", "reason", "placed_at"],
      examples: ["drs restriction list --json"],
    }),
    routeCommand(context, {
      name: "lift",
      route: "liftRestriction",
      argument: ["restriction_id", "as `list` shows it"],
      ids: IDS,
      options: {
        informed_on: {
          flags: "--informed-on <date>",
          help: "when the person was informed (article 18 (3))",
          read: pastDay(context.clock),
        },
        reason: "why it ends",
        dry_run: "print what would be shown again, and change nothing",
      },
      examples: ['drs restriction lift 5f0c2b9e-… --informed-on 2026-11-20 --reason "the data was corrected"'],
      confirm: ({ events }) => showsAgain(events),
      lines: ({ restriction_id, events }, { dry_run }) =>
        dry_run
          ? `${showsAgain(events)} Nothing was changed.`
          : `Restriction ${restriction_id} is lifted. Analysts see ${plural(events, "event")} again.`,
    }),
  );
}

const showsAgain = (events: number): string =>
  `Lifting the restriction shows ${plural(events, "event")} to analysts again.`;
