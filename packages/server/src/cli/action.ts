import { LIMITS } from "@device-risk-signals/contract";
import { Command, Option } from "commander";
import { OperatorError } from "../errors/operator-error.ts";
import { looksSigned } from "../actions/signed-actions.ts";
import { listActions, registerAction, revokeAction } from "../actions/action-table.ts";
import { writeAudit } from "../audit/audit.ts";
import {
  agentOf,
  type Context,
  escapeControls,
  loadConfig,
  print,
  printJson,
  printRows,
  withConnection,
  withTransaction,
} from "./context.ts";
import { account, example, name, ttl } from "./options.ts";

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
    .description("Actions that collections are bound to.")
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
      if (options.id !== undefined && looksSigned(options.id) && loadConfig(context).actions.signingSecret) {
        throw new OperatorError(
          "wrong-usage",
          "Choose an id that does not start with `v1.`: while DRS_ACTION_SIGNING_SECRET is set, the server reads such an id " +
            "as a signed one, and rejects every event with it.",
        );
      }
      const action = await withTransaction(context, async (executor, clock) => {
        const row = await registerAction(executor, clock, {
          account: options.account,
          actionType: options.type,
          ttlMs: options.ttl,
          ...(options.id !== undefined && { actionId: options.id }),
          ...(options.session !== undefined && { sessionId: options.session }),
        });
        if (!row)
          throw new OperatorError(
            "state-conflict",
            "This account has an action of that id with another type or session, or it was revoked.",
          );
        const detail = { action_id: row.action_id, action_type: row.action_type, expires_at: row.expires_at };
        const entry = {
          ...agentOf(context),
          operation: "action.register",
          outcome: "done",
          account: options.account,
        };
        await writeAudit(executor, clock, { ...entry, detail });
        return row;
      });
      const { revoked_at: _, session_id, ...rest } = action;
      const shown = session_id === null ? rest : { ...rest, session_id };
      if (options.json) printJson(context, shown);
      else {
        const { action_id, action_type, account, expires_at } = action;
        print(context, escapeControls(`${action_id} (${action_type}) of ${account}, until ${expires_at}`));
      }
    });

  command
    .command("list")
    .description("List actions, newest first.")
    .option("--account <account>", "only actions of this account", account)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs action list --account customer-1"))
    .action(async (options: { account?: string; json?: boolean }) => {
      const rows = await withConnection(context, "read", ({ pool }) => listActions(pool, options.account));
      printRows(context, rows, options.json ?? false, "No actions.");
    });

  command
    .command("revoke")
    .description("Revoke an action; servers follow within five seconds.")
    .argument("<action-id>", "its action_id", name("an action id", LIMITS.actionId))
    .requiredOption("--account <account>", "the account that the action belongs to", account)
    .addHelpText("after", example("drs action revoke act_1 --account customer-1"))
    .action(async (actionId: string, options: { account: string }) => {
      await withTransaction(context, async (executor, clock) => {
        const revoked = await revokeAction(executor, clock, options.account, actionId);
        if (!revoked) throw new OperatorError("not-found", "There is no such active action of this account.");
        const entry = {
          ...agentOf(context),
          operation: "action.revoke",
          outcome: "done",
          account: options.account,
        };
        await writeAudit(executor, clock, { ...entry, detail: { action_id: actionId } });
      });
      print(context, "Revoked.");
    });

  return command;
}
