import { Command, Option } from "commander";
import { OperatorError } from "../errors/operator-error.ts";
import { issueToken, listTokens, revokeToken } from "../sessions/opaque-tokens.ts";
import { writeAudit } from "../audit/audit.ts";
import {
  agentOf,
  type Context,
  escapeControls,
  print,
  printJson,
  printRows,
  withConnection,
  withTransaction,
} from "./context.ts";
import { account, example, ttl, uuid } from "./options.ts";

export function tokenCommand(context: Context): Command {
  const command = new Command("token")
    .description("Session tokens that this system issues itself; kept as hashes only.")
    .addHelpText("after", example("drs token issue --account customer-1"));

  command
    .command("issue")
    .description("Issue a token for an account. It is shown once.")
    .requiredOption("--account <account>", "whose requests it authenticates", account)
    .addOption(new Option("--ttl <duration>", "how long it is valid").argParser(ttl).default(3_600_000, "1h"))
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs token issue --account customer-1 --ttl 1h --json"))
    .action(async (options: { account: string; ttl: number; json?: boolean }) => {
      const issued = await withTransaction(context, async (executor, clock) => {
        const token = await issueToken(executor, clock, options.account, options.ttl);
        const detail = { token_id: token.token_id, expires_at: token.expires_at };
        const entry = {
          ...agentOf(context),
          operation: "token.issue",
          outcome: "done",
          account: options.account,
        };
        await writeAudit(executor, clock, { ...entry, detail });
        return token;
      });
      if (options.json) printJson(context, issued);
      else {
        print(context, issued.token);
        print(context, escapeControls(`For ${issued.account}, until ${issued.expires_at}. It is not shown again.`));
      }
    });

  command
    .command("list")
    .description("List tokens, newest first. The tokens themselves are not kept.")
    .option("--account <account>", "only tokens of this account", account)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs token list --account customer-1"))
    .action(async (options: { account?: string; json?: boolean }) => {
      const rows = await withConnection(context, "read", ({ pool }) => listTokens(pool, options.account));
      printRows(context, rows, options.json ?? false, "No tokens.");
    });

  command
    .command("revoke")
    .description("Revoke a token; servers follow within five seconds.")
    .argument("<token-id>", "the token_id that `list` shows", uuid)
    .addHelpText("after", example("drs token revoke 5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11"))
    .action(async (tokenId: string) => {
      await withTransaction(context, async (executor, clock) => {
        const of = await revokeToken(executor, clock, tokenId);
        if (of === undefined) throw new OperatorError("not-found", `There is no active token ${tokenId}.`);
        const entry = { ...agentOf(context), operation: "token.revoke", outcome: "done", account: of };
        await writeAudit(executor, clock, { ...entry, detail: { token_id: tokenId } });
      });
      print(context, `Revoked ${tokenId}.`);
    });

  return command;
}
