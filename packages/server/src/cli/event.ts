import { type Event, MAX_COUNTED } from "@device-risk-signals/admin-api";
import type { Command } from "commander";
import type { Context } from "./context.ts";
import { compareCommand } from "./event-compare.ts";
import { openCommand } from "./event-open.ts";
import { getCommand } from "./event-get.ts";
import { showCommand } from "./event-show.ts";
import { timelineCommand } from "./event-timeline.ts";
import { TIMES, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";
import { contextOf, INCLUDE_RESTRICTED, type RestrictedReads } from "./restricted-reads.ts";
import { groupOf, routeList } from "./route-command.ts";

export const eventCommand = (context: Context): Command =>
  groupOf(
    "event",
    "drs event list --account customer-1",
    getCommand(context),
    showCommand(context),
    openCommand(context),
    listCommand(context),
    countCommand(context),
    tailCommand(context),
    compareCommand(context),
    timelineCommand(context),
  );

interface ListOptions extends RestrictedReads {
  readonly account?: string;
  readonly session?: string;
  readonly idempotencyKey?: string;
}

/** The options of lists of events. */
const FILTER = {
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
};

const readingContext =
  (context: Context) =>
  ({ account, session, idempotencyKey, ...options }: ListOptions, self: Command): Context => {
    if (account === undefined && (session ?? idempotencyKey) !== undefined) {
      self.error("error: --session and --idempotency-key need --account");
    }
    return contextOf(context, options, self);
  };

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
      ...FILTER,
      features: "also whether its features are computed",
      after: { flags: "--after <event-id>", help: "continue after this event", read: uuid },
    },
    end: ({ searched_until: until }) =>
      until === null
        ? undefined
        : `No index serves these filters, so the search ended after 2 seconds, at ${until}. Continue it with --to ${until}, or add --account, --action or --from.`,
    contextOf: readingContext(context),
  })
    .option(...INCLUDE_RESTRICTED)
    .option("--reason <text>", "why; required with --include-restricted", reasonReader(context));

const countCommand = (context: Context): Command =>
  routeList(context, {
    name: "count",
    route: "countEvents",
    help: `Count events by filter and time, exactly up to ${MAX_COUNTED.toLocaleString("en")}. Audited.`,
    examples: [
      "drs event count --account customer-1",
      "drs event count --action-type payment --from -2d --buckets 60 -o csv",
    ],
    rows: "counts",
    empty: "No events.",
    columns: ({ from, to, events, more }) => ({ from, to, events: more ? `${events}+` : events }),
    options: { ...FILTER, buckets: "cut the time into at most this many parts" },
    contextOf: readingContext(context),
  })
    .option(...INCLUDE_RESTRICTED)
    .option("--reason <text>", "why; required with --include-restricted", reasonReader(context));

const tailCommand = (context: Context): Command =>
  routeList(context, {
    name: "tail",
    route: "tailEvents",
    help: "List the events since a time, newest first. Audited once in ten minutes.",
    examples: ["drs event tail --since -5m", "drs event tail --since -1h --platform ios"],
    rows: "events",
    empty: "No events.",
    columns: columnsOf,
    options: {
      since: { flags: "--since <time>", help: `received at this time or later: ${TIMES}` },
      account: "of this account",
      action_type: { flags: "--action-type <type>", help: "of this action type" },
      platform: "of this platform",
      sdk_version: { flags: "--sdk-version <version>", help: "of this SDK version" },
      purpose: { flags: "--purpose <id>", help: "of this purpose" },
    },
    end: ({ more }) => (more ? "There are more: older ones are left out." : undefined),
  });

function columnsOf(event: Event): object {
  const { event_id, received_at, account, action_type, platform, held, restricted, features } = event;
  const state = [held ? "held" : "", restricted ? "restricted" : ""].filter(Boolean).join(", ") || null;
  const computed = features === undefined ? {} : { features: features && (features.reason ?? features.status) };
  return { event_id, received_at, account, action_type, platform, state, ...computed };
}
