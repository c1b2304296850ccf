import type { Command } from "commander";
import type { Context } from "./context.ts";
import { groupOf, routeCommand, routeList } from "./route-command.ts";
import type { IdList } from "./short-id.ts";

const OPEN = 'drs case open --account customer-1 --category dispute --reason "dispute 4711"';

const IDS: IdList = { list: "listCases", rows: "cases", id: "case_id" };

export function caseCommand(context: Context): Command {
  return groupOf(
    "case",
    OPEN,
    routeCommand(context, {
      name: "open",
      route: "openCase",
      help: "Open a case for an account, an action or an event, for 8 hours.",
      options: {
        reason: "why events are opened",
        ticket: "ticket of the case in another system",
        account: "covers the events of this account",
        action_id: { flags: "--action <id>", help: "with --account: covers the events of this action" },
        event_id: { flags: "--event <event-id>", help: "covers this event" },
      },
      problem: ({ account, action_id, event_id }) => {
        const isOne = event_id === undefined ? account !== undefined : account === undefined && action_id === undefined;
        return isOne ? undefined : "give --account, --account with --action, or --event";
      },
      examples: [`${OPEN} --ticket T-1 --json`],
      lines: ({ case_id, scope, subject, expires_at }) => [
        case_id,
        `For the ${scope} ${subject}, until ${expires_at}.`,
      ],
    }),
    routeList(context, {
      name: "list",
      route: "listCases",
      rows: "cases",
      help: "List cases, newest first.",
      options: { open: "only open cases" },
      empty: "No cases.",
      columns: ["case_id", "scope", "subject", "opened_by", "expires_at", "closed_at"],
      examples: ["drs case list --open"],
    }),
    routeCommand(context, {
      name: "close",
      route: "closeCase",
      help: "Close a case: no more events can be opened with it.",
      argument: ["case_id", "the case_id that `list` shows"],
      ids: IDS,
      json: false,
      examples: ["drs case close 5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11"],
      lines: (_, { case_id }) => `Closed ${case_id}.`,
    }),
  );
}
