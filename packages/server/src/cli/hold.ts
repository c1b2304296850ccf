import type { Command } from "commander";
import { plural } from "../base/messages/plural.ts";
import type { Context } from "./context.ts";
import { futureDate } from "./options.ts";
import { groupOf, routeCommand, routeList } from "./route-command.ts";
import type { IdList } from "./short-id.ts";

const IDS: IdList = { list: "listHolds", rows: "holds", id: "hold_id" };

export function holdCommand(context: Context): Command {
  const review_on = { flags: "--review <date>", help: "date of the next review", read: futureDate(context.clock) };
  const argument = ["hold_id", "as `list` shows it"] as const;
  return groupOf(
    "hold",
    "drs hold list",
    routeCommand(context, {
      name: "add",
      route: "addHold",
      help: "Place a hold on an account (also on its future events), an action or one event.",
      options: {
        account: "of this account",
        action_id: { flags: "--action <id>", help: "of this action" },
        event_id: { flags: "--event <event-id>", help: "this event" },
        reason: "why",
        review_on,
        dry_run: "say what it would cover, and place nothing",
      },
      examples: ['drs hold add --account customer-1 --reason "dispute 4711" --approver "J. Doe" --review 2027-01-31'],
      problem: ({ account, action_id, event_id }) =>
        [account, action_id, event_id].filter((one) => one !== undefined).length === 1
          ? undefined
          : "give one of --account, --action and --event, to say what to hold",
      lines: ({ hold_id, events }, { dry_run }) =>
        dry_run
          ? `It would cover ${plural(events, "event")}. Nothing was changed.`
          : `Hold ${hold_id} covers ${plural(events, "event")}.`,
    }),
    routeList(context, {
      name: "list",
      route: "listHolds",
      rows: "holds",
      empty: "No holds.",
      shortened: "hold_id",
      columns: ({ hold_id, account, action_id, event_id, reason, approver, review_on, lifted_at }) => {
        return { hold_id, covers: event_id ?? action_id ?? account, reason, approver, review_on, lifted_at };
      },
      examples: ["drs hold list --json"],
    }),
    routeCommand(context, {
      name: "review",
      route: "reviewHold",
      argument,
      ids: IDS,
      options: { reason: "why it stays active", review_on, dry_run: "only check the input, and change nothing" },
      examples: ['drs hold review 5f0c2b9e-… --review 2027-07-31 --approver "J. Doe"'],
      lines: ({ hold_id, review_on: on }, { dry_run }) =>
        dry_run ? "Nothing was changed." : `Hold ${hold_id} stays active. Next review: ${on}.`,
    }),
    routeCommand(context, {
      name: "lift",
      route: "liftHold",
      help: "End a hold; the events that only this hold keeps are deleted.",
      argument,
      ids: IDS,
      options: { reason: "why it ends", dry_run: "print what would be deleted, and change nothing" },
      examples: ['drs hold lift 5f0c2b9e-… --reason "dispute 4711 is closed"'],
      confirm: ({ events_released }) => (events_released > 0 ? releases(events_released) : undefined),
      lines: ({ hold_id, events_released }, { dry_run }) =>
        dry_run
          ? `${releases(events_released)} Nothing was changed.`
          : `Hold ${hold_id} is lifted, which released ${plural(events_released, "event")}.`,
    }),
  );
}

const releases = (events: number): string => `Lifting the hold releases ${plural(events, "event")} that only it keeps.`;
