import { LIMITS } from "@device-risk-signals/contract";
import { Command, Option } from "commander";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { account, count, example, name, ttl } from "./options.ts";
import { type PageOptions, printList } from "./pages.ts";

interface RegisterOptions {
  readonly account: string;
  readonly type: string;
  readonly id?: string;
  readonly session?: string;
  readonly ttl: number;
  readonly json?: boolean;
}

export function actionCommand(context: Context): Command {
  const command = new Command("action")
    .description("Actions that events refer to.")
    .addHelpText("after", example("drs action register --account customer-1 --type payment"));

  command
    .command("register")
    .description("Register an action. Registering it again identically changes nothing.")
    .requiredOption("--account <account>", "the account that the action belongs to", account)
    .requiredOption("--type <type>", "its action_type", name("an action type", LIMITS.actionType))
    .option("--id <id>", "its action_id; default: a new one", name("an action id", LIMITS.actionId))
    .option("--session <session>", "the session value it is issued with", name("a session value", LIMITS.sessionId))
    .addOption(
      new Option("--ttl <duration>", "how long events may refer to it").argParser(ttl).default(3_600_000, "1h"),
    )
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs action register --account customer-1 --type payment --ttl 15m --json"))
    .action(async (options: RegisterOptions) => {
      const action = await call(context, "registerAction", {
        account: options.account,
        action_type: options.type,
        ttl_ms: options.ttl,
        ...(options.id !== undefined && { action_id: options.id }),
        ...(options.session !== undefined && { session_id: options.session }),
      });
      if (options.json) printJson(context, action);
      else {
        const { action_id, action_type, account, expires_at } = action;
        print(context, `${action_id} (${action_type}) of ${account}, until ${expires_at}`);
      }
    });

  command
    .command("list")
    .description("List actions, newest first.")
    .option("--account <account>", "only actions of this account", account)
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 0)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs action list --account customer-1"))
    .action(({ account: of, ...page }: PageOptions & { account?: string }) =>
      printList(
        context,
        async (call, position) => {
          const { actions: rows, next } = await call("listActions", {
            ...position,
            ...(of !== undefined && { account: of }),
          });
          return { rows, next };
        },
        page,
        "No actions.",
      ),
    );

  command
    .command("revoke")
    .description("Revoke an action; servers refuse it within five seconds.")
    .argument("<action-id>", "its action_id", name("an action id", LIMITS.actionId))
    .requiredOption("--account <account>", "the account that the action belongs to", account)
    .addHelpText("after", example("drs action revoke act_1 --account customer-1"))
    .action(async (actionId: string, options: { account: string }) => {
      await call(context, "revokeAction", { account: options.account, action_id: actionId });
      print(context, "Revoked.");
    });

  return command;
}
