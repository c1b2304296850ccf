import { LIMITS } from "@device-risk-signals/contract";
import { OperatorError } from "../errors/operator-error.ts";
import { plural } from "../messages/plural.ts";
import { Command, Option } from "commander";
import { orderHold, orderLift, orderReview } from "../lifecycle/holds/hold-orders.ts";
import { type HoldSubject, listHolds } from "../lifecycle/holds/holds.ts";
import { writeAudit } from "../audit/audit.ts";
import { confirm } from "./confirm.ts";
import { agentOf, type Context, print, printJson, printRows, withConnection } from "./context.ts";
import { withOrder } from "./journal-ports.ts";
import { account, example, futureDate, name, uuid, written } from "./options.ts";
import { reasonReader } from "./reason.ts";

interface SubjectOptions {
  readonly account?: string;
  readonly action?: string;
  readonly event?: string;
}

interface AddOptions extends SubjectOptions {
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
    .requiredOption("--approver <name>", "who decided it", written("an approver", 256))
    .requiredOption("--review <date>", "date of the next review", futureDate(context.clock))
    .option("--dry-run", "say what it would cover, and place nothing")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example('drs hold add --account customer-1 --reason "dispute 4711" --approver "J. Doe" --review 2027-01-31'),
    )
    .action(async (options: AddOptions, self: Command) => {
      const subject = subjectOf(options);
      if (!subject) return self.error("error: one of --account, --action, --event says what is held");
      const { reason, approver, review: reviewOn, dryRun = false, json = false } = options;
      const agent = agentOf(context);
      const placed = await withOrder(
        context,
        async (executor, audit, ports) => {
          const journal = ports();
          const hold = await orderHold(executor, dryRun ? undefined : journal, {
            subject,
            reason,
            approver,
            reviewOn,
            actor: agent.actor,
          });
          if (!hold) throw new OperatorError("not-found", "Nothing is known of this subject: check the spelling.");
          const entry = { ...agent, operation: "hold.add", outcome: "done", reason, ...auditSubject(subject) };
          await writeAudit(executor, audit, {
            ...entry,
            detail: { ...hold, ...auditDetail(subject), approver, review_on: reviewOn },
          });
          return hold;
        },
        dryRun,
      );
      if (json) return printJson(context, { ...placed, dry_run: dryRun });
      if (dryRun) print(context, `It would cover ${plural(placed.events, "event")}. Nothing was changed.`);
      else print(context, `Hold ${placed.hold_id} covers ${plural(placed.events, "event")}.`);
    });
}

function subjectOf({ account: of, action, event }: SubjectOptions): HoldSubject | undefined {
  if (of !== undefined) return { of: "account", value: of };
  if (action !== undefined) return { of: "action_id", value: action };
  return event === undefined ? undefined : { of: "event_id", value: event };
}

function auditSubject({ of, value }: HoldSubject): { account?: string; eventIds?: [string] } {
  if (of === "action_id") return {};
  return of === "account" ? { account: value } : { eventIds: [value] };
}

/** An account is named by its keyed MAC, an event by its id. */
const auditDetail = ({ of, value }: HoldSubject): object => (of === "action_id" ? { action_id: value } : {});

function listCommand(context: Context): Command {
  return new Command("list")
    .description("List holds, active ones first.")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs hold list --json"))
    .action(async ({ json = false }: { json?: boolean }) => {
      printRows(context, await withConnection(context, "read", ({ pool }) => listHolds(pool)), json, "No holds.");
    });
}

function reviewCommand(context: Context): Command {
  return new Command("review")
    .description("Record a review of an active hold, and the date of the next review.")
    .argument("<hold-id>", "as `list` shows it", uuid)
    .requiredOption("--review <date>", "date of the next review", futureDate(context.clock))
    .requiredOption("--approver <name>", "who decided it", written("an approver", 256))
    .option("--reason <text>", "why it stays active", reasonReader(context))
    .option("--dry-run", "look, and change nothing")
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs hold review 5f0c2b9e-… --review 2027-07-31 --approver "J. Doe"'))
    .action(async (holdId: string, { review: reviewOn, approver, reason, dryRun = false, json }: ReviewOptions) => {
      await withOrder(
        context,
        async (executor, audit, ports) => {
          const journal = dryRun ? undefined : ports();
          if (!(await orderReview(executor, journal, holdId, { reviewOn, approver }))) throw noHold(holdId);
          const detail = { hold_id: holdId, review_on: reviewOn, approver };
          const entry = { ...agentOf(context), operation: "hold.review", outcome: "done", detail };
          await writeAudit(executor, audit, { ...entry, ...(reason !== undefined && { reason }) });
        },
        dryRun,
      );
      if (json) return printJson(context, { hold_id: holdId, review_on: reviewOn, dry_run: dryRun });
      print(context, dryRun ? "Nothing was changed." : `Hold ${holdId} stays active. Next review: ${reviewOn}.`);
    });
}

function liftCommand(context: Context): Command {
  return new Command("lift")
    .description("End a hold: what only it kept is deleted.")
    .argument("<hold-id>", "as `list` shows it", uuid)
    .requiredOption("--reason <text>", "why it ends", reasonReader(context))
    .option("--dry-run", "print what would be deleted, and change nothing")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs hold lift 5f0c2b9e-… --reason "dispute 4711 is closed"'))
    .action(async (holdId: string, { reason, dryRun = false, yes, json = false }: LiftOptions) => {
      const agent = agentOf(context);
      const lift = (tried: boolean): Promise<number> =>
        withOrder(
          context,
          async (executor, audit, ports) => {
            const events = await orderLift(executor, tried ? undefined : ports(), holdId, agent.actor, reason);
            if (events === undefined) throw noHold(holdId);
            const entry = { ...agent, operation: "hold.lift", outcome: "done", reason };
            await writeAudit(executor, audit, { ...entry, detail: { hold_id: holdId, events_released: events } });
            return events;
          },
          tried,
        );
      const would = await lift(true);
      const what = `Released at once: ${plural(would, "event")} that only this hold still kept.`;
      if (!dryRun && would > 0) await confirm(context, { what, yes });
      const released = dryRun ? would : await lift(false);
      if (json) return printJson(context, { hold_id: holdId, events_released: released, dry_run: dryRun });
      if (dryRun) print(context, `${what} Nothing was changed.`);
      else print(context, `Hold ${holdId} is lifted. Released: ${plural(released, "event")} that only it still kept.`);
    });
}

const noHold = (holdId: string): OperatorError => new OperatorError("not-found", `There is no active hold ${holdId}.`);
