import { LIMITS } from "@device-risk-signals/contract";
import { Command, Option } from "commander";
import { plural } from "../base/messages/plural.ts";
import { call, withCalls } from "./call.ts";
import { confirm } from "./confirm.ts";
import { type Context, print, printJson, printRows } from "./context.ts";
import { account, example, futureDate, name, uuid, trimmedText } from "./options.ts";
import { reasonReader } from "./reason.ts";

interface AddOptions {
  readonly account?: string;
  readonly action?: string;
  readonly event?: string;
  readonly reason: string;
  readonly approver: string;
  readonly review: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface ReviewOptions {
  readonly review: string;
  readonly approver: string;
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface LiftOptions {
  readonly reason: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function holdCommand(context: Context): Command {
  const command = new Command("hold")
    .description("Legal holds: orders that keep events although they have expired.")
    .addHelpText("after", example("drs hold list"));
  command.addCommand(addCommand(context));
  command.addCommand(listCommand(context));
  command.addCommand(reviewCommand(context));
  command.addCommand(liftCommand(context));
  return command;
}

function addCommand(context: Context): Command {
  return new Command("add")
    .description("Place a hold on an account (also on its future events), an action or one event.")
    .addOption(new Option("--account <account>", "of this account").argParser(account).conflicts(["action", "event"]))
    .addOption(
      new Option("--action <id>", "of this action").argParser(name("an action id", LIMITS.actionId)).conflicts("event"),
    )
    .addOption(new Option("--event <event-id>", "this event").argParser(uuid))
    .requiredOption("--reason <text>", "why", reasonReader(context))
    .requiredOption("--approver <name>", "who decided it", trimmedText("an approver", 256))
    .requiredOption("--review <date>", "date of the next review", futureDate(context.clock))
    .option("--dry-run", "say what it would cover, and place nothing")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example('drs hold add --account customer-1 --reason "dispute 4711" --approver "J. Doe" --review 2027-01-31'),
    )
    .action(async (options: AddOptions, self: Command) => {
      const { account: of, action, event, reason, approver, review: reviewOn, dryRun = false, json = false } = options;
      if (of === undefined && action === undefined && event === undefined) {
        return self.error("error: give --account, --action or --event, to say what to hold");
      }
      const subject = { ...(of !== undefined && { account: of }), ...(action !== undefined && { action_id: action }) };
      const placed = await withCalls(context, "change", (call) =>
        call("addHold", {
          ...subject,
          ...(event !== undefined && { event_id: event }),
          reason,
          approver,
          review_on: reviewOn,
          dry_run: dryRun,
        }),
      );
      if (json) return printJson(context, { ...placed, dry_run: dryRun });
      if (dryRun) print(context, `It would cover ${plural(placed.events, "event")}. Nothing was changed.`);
      else print(context, `Hold ${placed.hold_id} covers ${plural(placed.events, "event")}.`);
    });
}

function listCommand(context: Context): Command {
  return new Command("list")
    .description("List holds, active ones first.")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs hold list --json"))
    .action(async ({ json = false }: { json?: boolean }) => {
      const { holds } = await call(context, "listHolds", {});
      printRows(context, holds, json, "No holds.");
    });
}

function reviewCommand(context: Context): Command {
  return new Command("review")
    .description("Record a review of an active hold, and the date of the next review.")
    .argument("<hold-id>", "as `list` shows it", uuid)
    .requiredOption("--review <date>", "date of the next review", futureDate(context.clock))
    .requiredOption("--approver <name>", "who decided it", trimmedText("an approver", 256))
    .option("--reason <text>", "why it stays active", reasonReader(context))
    .option("--dry-run", "only check the input, and change nothing")
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs hold review 5f0c2b9e-… --review 2027-07-31 --approver "J. Doe"'))
    .action(async (holdId: string, { review: reviewOn, approver, reason, dryRun = false, json }: ReviewOptions) => {
      const review = { hold_id: holdId, review_on: reviewOn, approver, dry_run: dryRun };
      await withCalls(context, "change", (call) =>
        call("reviewHold", { ...review, ...(reason !== undefined && { reason }) }),
      );
      if (json) return printJson(context, { hold_id: holdId, review_on: reviewOn, dry_run: dryRun });
      print(context, dryRun ? "Nothing was changed." : `Hold ${holdId} stays active. Next review: ${reviewOn}.`);
    });
}

function liftCommand(context: Context): Command {
  return new Command("lift")
    .description("End a hold; the events that only this hold keeps are deleted.")
    .argument("<hold-id>", "as `list` shows it", uuid)
    .requiredOption("--reason <text>", "why it ends", reasonReader(context))
    .option("--dry-run", "print what would be deleted, and change nothing")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs hold lift 5f0c2b9e-… --reason "dispute 4711 is closed"'))
    .action(async (holdId: string, { reason, dryRun = false, yes, json = false }: LiftOptions) => {
      await withCalls(context, "change", async (call) => {
        const lift = async (isDryRun: boolean): Promise<number> =>
          (await call("liftHold", { hold_id: holdId, reason, dry_run: isDryRun })).events_released;
        const would = await lift(true);
        const what = `Lifting the hold releases ${plural(would, "event")} that only it keeps.`;
        if (!dryRun && would > 0) await confirm(context, { what, yes });
        const released = dryRun ? would : await lift(false);
        if (json) return printJson(context, { hold_id: holdId, events_released: released, dry_run: dryRun });
        if (dryRun) print(context, `${what} Nothing was changed.`);
        else print(context, `Hold ${holdId} is lifted, which released ${plural(released, "event")}.`);
      });
    });
}
