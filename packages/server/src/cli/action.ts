import type { Command } from "commander";
import type { Context } from "./context.ts";
import { groupOf, routeCommand, routeList } from "./route-command.ts";

export function actionCommand(context: Context): Command {
  const owner = "the account that the action belongs to";
  return groupOf(
    "action",
    "drs action register --account customer-1 --type payment",
    routeCommand(context, {
      name: "register",
      route: "registerAction",
      help: "Register an action. Registering it again identically changes nothing.",
      options: {
        account: owner,
        action_type: { flags: "--type <type>", help: "its action_type" },
        action_id: { flags: "--id <id>", help: "its action_id; default: a new one" },
        session_id: { flags: "--session <session>", help: "the session value it is issued with" },
        ttl_ms: { help: "how long events may refer to it", fallback: [3_600_000, "1h"] },
      },
      examples: ["drs action register --account customer-1 --type payment --ttl 15m --json"],
      lines: ({ action_id, action_type, account, expires_at }) =>
        `${action_id} (${action_type}) of ${account}, until ${expires_at}`,
    }),
    routeList(context, {
      name: "list",
      route: "listActions",
      rows: "actions",
      help: "List actions, newest first.",
      options: { account: "only actions of this account" },
      empty: "No actions.",
      columns: ["action_id", "account", "action_type", "expires_at", "revoked_at"],
      examples: ["drs action list --account customer-1"],
    }),
    routeCommand(context, {
      name: "revoke",
      route: "revokeAction",
      help: "Revoke an action; servers refuse it within five seconds.",
      argument: ["action_id", "its action_id"],
      options: { account: owner },
      json: false,
      examples: ["drs action revoke act_1 --account customer-1"],
      lines: () => "Revoked.",
    }),
  );
}
