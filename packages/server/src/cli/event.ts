import { CATEGORIES, type Event } from "@device-risk-signals/admin-api";
import { LIMITS } from "@device-risk-signals/contract";
import { Command, Option } from "commander";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { call } from "./call.ts";
import { type Context, printJson, printRows, writeExact } from "./context.ts";
import { compareCommand } from "./event-compare.ts";
import { timelineCommand } from "./event-timeline.ts";
import { getOnDatabase, type Listing, listOnDatabase, type Reading } from "./events-on-database.ts";
import { listThroughApi } from "./list-events.ts";
import { findLogin } from "./login.ts";
import { account, count, example, name, ticket, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";
import { whyOf, type WhyOptions } from "./why.ts";

const INCLUDE_RESTRICTED = "also events that are excluded from analysis";

interface GetOptions extends Reading, WhyOptions, BreakGlassOptions {
  readonly json?: boolean;
}

/** The options about a case, which `drs event get` accepts only with `--raw`. */
const CASE_OPTIONS = ["case", "category", "ticket"] as const;

export function eventCommand(context: Context): Command {
  const command = new Command("event")
    .description("Stored events.")
    .addHelpText("after", example("drs event list --account customer-1"));

  command
    .command("get")
    .description("Show an event's promoted attributes, or with --raw its exact bytes. Audited.")
    .argument("<event-id>", "as the endpoint answered it", uuid)
    .option("--raw", "write the exact bytes, and nothing else; at a terminal their text, escaped")
    .addOption(
      new Option("--case <case-id>", "with --raw: an open case that covers the event")
        .argParser(uuid)
        .conflicts(["reason", "category", "ticket"]),
    )
    .option("--include-restricted", INCLUDE_RESTRICTED)
    .option("--reason <text>", "why; for --raw and --include-restricted", reasonReader(context))
    .addOption(new Option("--category <category>", "with --raw: opens a case of this kind").choices(CATEGORIES))
    .option("--ticket <ticket>", "with --raw: opens a case with this ticket", ticket)
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example("drs event get 019a…-…", 'drs event get 019a…-… --raw --reason "dispute 4711" > event.json'),
    )
    .action(async (event_id: string, options: GetOptions, self: Command) => {
      const ofCase = CASE_OPTIONS.find((one) => options[one] !== undefined);
      if (options.raw && options.reason === undefined && options.case === undefined) {
        self.error("error: --raw needs --reason or --case: every raw read is audited with its reason");
      }
      if (!options.raw && ofCase !== undefined) self.error(`error: --${ofCase} needs --raw`);
      requireReason(options, self);
      const show = (event: Event): void => printAttributes(context, event, options.json ?? false);
      const isRemote = findLogin(context) !== undefined;
      const opening = options.raw ? requireBreakGlass(context, options) : context;
      if (!isRemote && ofCase === undefined) return getOnDatabase(opening, event_id, options, show);
      refuseRestricted(options, self);
      if (!options.raw) return show(await call(context, "readEvent", { event_id }));
      return writeExact(context, await call(opening, "readExactEvent", { event_id, ...whyOf(options) }));
    });

  command
    .command("list")
    .description("List events by account, action, action type or SDK version. Audited.")
    .option("--account <account>", "of this account", account)
    .option("--action <id>", "of this action", name("an action id", LIMITS.actionId))
    .option("--action-type <type>", "of this action type", name("an action type", LIMITS.actionType))
    .option("--sdk-version <version>", "of this SDK version", name("an SDK version", LIMITS.sdkVersion))
    .option("--include-restricted", INCLUDE_RESTRICTED)
    .option("--reason <text>", "why; required with --include-restricted", reasonReader(context))
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 50)
    .option("--after <event-id>", "continue after this event", uuid)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs event list --account customer-1 --limit 10 --json"))
    .action(async ({ json = false, ...listing }: Listing & { readonly json?: boolean }, self: Command) => {
      requireReason(listing, self);
      const collected: Event[] = [];
      const take = (page: readonly Event[]): void => {
        if (json) for (const row of page) printJson(context, row);
        else collected.push(...page);
      };
      if (findLogin(context)) {
        refuseRestricted(listing, self);
        await listThroughApi(context, listing, take);
      } else await listOnDatabase(context, listing, take);
      if (!json) printRows(context, collected.map(columnsOf), false, "No events.");
    });

  command.addCommand(compareCommand(context));
  command.addCommand(timelineCommand(context));
  return command;
}

/**
 * Only a few reasons allow a read of restricted events (GDPR, article 18 (2)), so each read must state one for the
 * audit.
 */
function requireReason({ includeRestricted, reason }: Reading, self: Command): void {
  // guard(false): a read of restricted events has a reason
  if (includeRestricted && reason === undefined) self.error("error: --include-restricted needs --reason");
}

/**
 * Rejects `--include-restricted` for reads through the admin API or with a case. Through the admin API, the role
 * `privacy` sees the attributes of restricted events. No operation of the admin API opens a restricted event.
 */
function refuseRestricted({ includeRestricted }: Reading, self: Command): void {
  if (includeRestricted) self.error("error: --include-restricted works only on the database, and not with --case");
}

function printAttributes(context: Context, event: Event, json: boolean): void {
  const { event_id, idempotency_key, account: of, action_id, action_type, purpose, ...rest } = event;
  const shown = { event_id, idempotency_key, account: of, action_id, action_type, purpose, ...rest };
  if (json) return printJson(context, shown);
  const rows = Object.entries(shown).map(([attribute, value]) => ({ attribute, value }));
  printRows(context, rows, false, "");
}

function columnsOf(event: Event): Partial<Event> {
  const { event_id, received_at, account, action_type, action_id, platform, sdk_version, held, restricted } = event;
  return { event_id, received_at, account, action_type, action_id, platform, sdk_version, held, restricted };
}
