import type { Event } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { requireBreakGlass } from "./break-glass.ts";
import { call } from "./call.ts";
import { type Context, printJson, printRows, writeExact } from "./context.ts";
import { compareCommand } from "./event-compare.ts";
import { timelineCommand } from "./event-timeline.ts";
import { example, TIMES, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";
import { contextOf, INCLUDE_RESTRICTED, type RestrictedReads } from "./restricted-reads.ts";
import { groupOf, routeList } from "./route-command.ts";
import { addWhy, whyOf, type WhyOptions } from "./why.ts";

interface GetOptions extends RestrictedReads, WhyOptions {
  readonly raw?: boolean;
  readonly json?: boolean;
}

/** The options about a case, which `drs event get` accepts only with `--raw`. */
const CASE_OPTIONS = ["case", "category", "ticket"] as const;

export const eventCommand = (context: Context): Command =>
  groupOf(
    { name: "event", help: "Stored events.", example: "drs event list --account customer-1" },
    getCommand(context),
    listCommand(context),
    compareCommand(context),
    timelineCommand(context),
  );

function getCommand(context: Context): Command {
  const command = new Command("get")
    .description("Show an event's promoted attributes, or with --raw its exact bytes. Audited.")
    .argument("<event-id>", "as the endpoint answered it", uuid)
    .option("--raw", "write the exact bytes, and nothing else; at a terminal their text, escaped")
    .addHelpText(
      "after",
      example("drs event get 019a…-…", 'drs event get 019a…-… --raw --reason "dispute 4711" > event.json'),
    );
  return addWhy(context, command, "with --raw: ")
    .option(...INCLUDE_RESTRICTED)
    .option("--json", "print one JSON object")
    .action(async (event_id: string, options: GetOptions, self: Command) => {
      const ofCase = CASE_OPTIONS.find((one) => options[one] !== undefined);
      if (!options.raw && ofCase !== undefined) self.error(`error: --${ofCase} needs --raw`);
      const reading = contextOf(context, options, self);
      if (!options.raw) return printAttributes(context, await call(reading, "readEvent", { event_id }), options.json);
      const input = { event_id, ...whyOf(options, self) };
      return writeExact(context, await call(requireBreakGlass(reading, options), "readExactEvent", input));
    });
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
    contextOf: (options: RestrictedReads, self) => contextOf(context, options, self),
  })
    .option(...INCLUDE_RESTRICTED)
    .option("--reason <text>", "why; required with --include-restricted", reasonReader(context));

function printAttributes(context: Context, event: Event, json = false): void {
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
