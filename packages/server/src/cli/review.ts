/** `drs review`: reviews of audit entries. */
import type { Command } from "commander";
import type { Context } from "./context.ts";
import { groupOf, routeCommand, routeList } from "./route-command.ts";
import type { IdList } from "./short-id.ts";

const IDS: IdList = { list: "listReviews", rows: "reviews", id: "review_id" };

export function reviewCommand(context: Context): Command {
  return groupOf(
    "review",
    "drs review list",
    routeList(context, {
      name: "list",
      route: "listReviews",
      rows: "reviews",
      help: "List open reviews, oldest first.",
      empty: "No open reviews.",
      shortened: "review_id",
      examples: ["drs review list"],
    }),
    routeCommand(context, {
      name: "open",
      route: "openReview",
      help: "Open a review of an audit entry.",
      argument: ["entry_id", "as `drs audit list --json` shows it"],
      options: { reason: "why" },
      json: ({ review_id }) => ({ review_id }),
      examples: ['drs review open 019a…-… --reason "no case behind this read"'],
      lines: ({ review_id }) => `Review ${review_id} is open.`,
    }),
    routeCommand(context, {
      name: "close",
      route: "closeReview",
      help: "Close a review of what another person did, with its result.",
      argument: ["review_id", "as `list` shows it"],
      ids: IDS,
      options: { reason: "the result" },
      json: ({ review_id }) => ({ review_id }),
      examples: ['drs review close 5f0c2b9e-… --reason "the read was justified"'],
      lines: ({ review_id }) => `Review ${review_id} is closed.`,
    }),
  );
}
