import { CATEGORIES, type Event } from "@device-risk-signals/admin-api";
import { Command, Option } from "commander";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { call } from "./call.ts";
import { type Context, printJson, printRows, writeExact } from "./context.ts";
import { compareCommand } from "./event-compare.ts";
import { timelineCommand } from "./event-timeline.ts";
import { findLogin } from "./login.ts";
import { example, ticket, TIMES, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";
import { routeList } from "./route-command.ts";
import { whyOf, type WhyOptions } from "./why.ts";

const INCLUDE_RESTRICTED = "also events that are excluded from analysis; only on the database";

interface Reading {
  readonly includeRestricted?: boolean;
  readonly reason?: string;
}

interface GetOptions extends Reading, WhyOptions, BreakGlassOptions {
  readonly raw?: boolean;
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
      const reading = contextOf(context, options, self);
      if (options.raw) {
        const opening = requireBreakGlass(reading, options);
        return writeExact(context, await call(opening, "readExactEvent", { event_id, ...whyOf(options) }));
      }
      printAttributes(context, await call(reading, "readEvent", { event_id }), options.json ?? false);
    });

  command.addCommand(listCommand(context));
  command.addCommand(compareCommand(context));
  command.addCommand(timelineCommand(context));
  return command;
}

const listCommand = (context: Context): Command =>
  routeList(context, {
    name: "list",
    route: "listEvents",
    help: "List events, newest first. Filters combine. Audited.",
    examples: [
      "drs event list --account customer-1 --limit 10 --json",
      "drs event list --action-type payment --platform ios --from -2d",
    ],
    rows: "events",
    empty: "No events.",
    columns: columnsOf,
    limit: 50,
    options: {
      account: "of this account",
      action_id: { flags: "--action <id>", help: "of this action" },
      action_type: { flags: "--action-type <type>", help: "of this action type" },
      session_id: { flags: "--session <id>", help: "of this session; needs --account" },
      idempotency_key: { flags: "--idempotency-key <key>", help: "with this idempotency key; needs --account" },
      purpose: { flags: "--purpose <id>", help: "of this purpose" },
      platform: "of this platform",
      sdk_version: { flags: "--sdk-version <version>", help: "of this SDK version" },
      from: { flags: "--from <time>", help: `received at this time or later: ${TIMES}` },
      to: { flags: "--to <time>", help: "received before this time" },
      after: { flags: "--after <event-id>", help: "continue after this event", read: uuid },
    },
    end: ({ searched_until: until }) =>
      until === null
        ? undefined
        : `No index serves these filters, so the search ended after 2 seconds, at ${until}. Continue it with --to ${until}, or add --account, --action or --from.`,
    contextOf: (options: Reading, self) => contextOf(context, options, self),
  })
    .option("--include-restricted", INCLUDE_RESTRICTED)
    .option("--reason <text>", "why; required with --include-restricted", reasonReader(context));

/**
 * The context of a read. Only a few reasons allow a read of restricted events (GDPR, article 18 (2)), so each states one
 * for the audit. Through the admin API, the role `privacy` sees the attributes of restricted events, and no operation
 * opens one.
 */
function contextOf(context: Context, { includeRestricted = false, reason }: Reading, self: Command): Context {
  // guard(false): a read of restricted events has a reason
  if (includeRestricted && reason === undefined) self.error("error: --include-restricted needs --reason");
  if (includeRestricted && findLogin(context)) self.error("error: --include-restricted works only on the database");
  return { ...context, includeRestricted, ...(reason !== undefined && { reason }) };
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
