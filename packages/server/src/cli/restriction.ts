import { Command, Option } from "commander";
import type { Answer } from "@device-risk-signals/admin-api";
import { RESTRICTION_ARTICLES, type RestrictionArticle } from "../lifecycle/journal/journal.ts";
import { plural } from "../base/messages/plural.ts";
import { type Call, call, withCalls } from "./call.ts";
import { confirm } from "./confirm.ts";
import { type Context, print, printJson, printRows } from "./context.ts";
import { account, example, pastDay, uuid, trimmedText } from "./options.ts";
import { reasonReader } from "./reason.ts";

interface AddOptions {
  readonly account: string;
  readonly purpose?: string;
  readonly article: string;
  readonly reason: string;
  readonly approver?: string;
  readonly request?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface LiftOptions {
  readonly informedOn: string;
  readonly reason: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function restrictionCommand(context: Context): Command {
  return new Command("restriction")
    .description("Restrictions and objections (articles 18 and 21 of the GDPR): hide events.")
    .addHelpText("after", example("drs restriction list"))
    .addCommand(addCommand(context))
    .addCommand(listCommand(context))
    .addCommand(liftCommand(context));
}

function addCommand(context: Context): Command {
  return new Command("add")
    .description("Hide the events of an account from analysis, stored ones and later ones.")
    .requiredOption("--account <account>", "the account to restrict", account)
    .addOption(
      new Option("--article <number>", "of the GDPR: 18 restriction, 21 objection")
        .choices(RESTRICTION_ARTICLES.map(String))
        .makeOptionMandatory(),
    )
    .option("--purpose <id>", "only the events of this purpose")
    .requiredOption("--reason <text>", "why", reasonReader(context))
    .option("--approver <name>", "who decided it; required without --request", trimmedText("an approver", 256))
    .option("--request <request-id>", "the open data request that asks for it", uuid)
    .option("--dry-run", "say what it would hide, and place nothing")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example(
        'drs restriction add --account customer-1 --article 18 --reason "disputes the accuracy" --approver "J. Doe"',
        'drs restriction add --account customer-1 --article 21 --purpose fraud --reason "objects" --request 5f0c2b9e-…',
      ),
    )
    .action(async (options: AddOptions, self: Command) => {
      const { approver, request, dryRun = false, json = false } = options;
      if (approver === undefined && request === undefined) {
        self.error("error: give --approver or --request, to say who decided");
      }
      const placed = await withCalls(context, "change", (invoke) => placeRestriction(invoke, options));
      if (json) return printJson(context, { ...placed, dry_run: dryRun });
      if (dryRun) print(context, `It would hide ${plural(placed.events, "event")}. Nothing was changed.`);
      else
        print(context, `Restriction ${placed.restriction_id} hides ${plural(placed.events, "event")} from analysis.`);
    });
}

function placeRestriction(
  invoke: Call,
  { account: of, purpose, article, reason, approver, request, dryRun = false }: AddOptions,
): Promise<Answer<"addRestriction">> {
  return invoke("addRestriction", {
    account: of,
    article: Number(article) as RestrictionArticle,
    reason,
    ...(purpose !== undefined && { purpose }),
    ...(approver !== undefined && { approver }),
    ...(request !== undefined && { request_id: request }),
    dry_run: dryRun,
  });
}

function listCommand(context: Context): Command {
  return new Command("list")
    .description("List restrictions, active ones first.")
    .option("--account <account>", "only restrictions of this account", account)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs restriction list --json"))
    .action(async ({ account: of, json = false }: { account?: string; json?: boolean }) => {
      const { restrictions } = await call(context, "listRestrictions", of === undefined ? {} : { account: of });
      printRows(context, restrictions, json, "No restrictions.");
    });
}

function liftCommand(context: Context): Command {
  return new Command("lift")
    .description("End a restriction, after the person was informed that it ends.")
    .argument("<restriction-id>", "as `list` shows it", uuid)
    .requiredOption("--informed-on <date>", "when the person was informed (article 18 (3))", pastDay(context.clock))
    .requiredOption("--reason <text>", "why it ends", reasonReader(context))
    .option("--dry-run", "print what would be shown again, and change nothing")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example('drs restriction lift 5f0c2b9e-… --informed-on 2026-11-20 --reason "the data was corrected"'),
    )
    .action(async (id: string, { informedOn: informed_on, reason, dryRun = false, yes, json }: LiftOptions) => {
      const { events } = await withCalls(context, "change", async (invoke) => {
        const lift = (dry_run: boolean): Promise<Answer<"liftRestriction">> =>
          invoke("liftRestriction", { restriction_id: id, informed_on, reason, dry_run });
        const would = await lift(true);
        if (dryRun) return would;
        // guard(drop): nothing is shown to analysts again without a confirmation
        await confirm(context, { what: wouldShowText(would.events), yes });
        return lift(false);
      });
      if (json) return printJson(context, { restriction_id: id, events, dry_run: dryRun });
      if (dryRun) print(context, `${wouldShowText(events)} Nothing was changed.`);
      else print(context, `Restriction ${id} is lifted. Analysts see ${plural(events, "event")} again.`);
    });
}

const wouldShowText = (events: number): string =>
  `Lifting the restriction shows ${plural(events, "event")} to analysts again.`;
