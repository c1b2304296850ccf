import { Command, Option } from "commander";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { account, count, example, ttl, uuid } from "./options.ts";
import { type PageOptions, printList } from "./pages.ts";

export function tokenCommand(context: Context): Command {
  const command = new Command("token")
    .description("Session tokens that this system issues itself; kept as hashes only.")
    .addHelpText("after", example("drs token issue --account customer-1"));

  command
    .command("issue")
    .description("Issue a token for an account. It is shown once.")
    .requiredOption("--account <account>", "account that the token authenticates", account)
    .addOption(new Option("--ttl <duration>", "how long it is valid").argParser(ttl).default(3_600_000, "1h"))
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs token issue --account customer-1 --ttl 1h --json"))
    .action(async (options: { account: string; ttl: number; json?: boolean }) => {
      const issued = await call(context, "issueToken", { account: options.account, ttl_ms: options.ttl });
      if (options.json) printJson(context, issued);
      else {
        print(context, issued.token);
        print(context, `For ${issued.account}, until ${issued.expires_at}. It is not shown again.`);
      }
    });

  command
    .command("list")
    .description("List tokens, newest first. The tokens themselves are not kept.")
    .option("--account <account>", "only tokens of this account", account)
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 0)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs token list --account customer-1"))
    .action(({ account: of, ...page }: PageOptions & { account?: string }) =>
      printList(
        context,
        async (call, position) => {
          const asked = { ...position, ...(of !== undefined && { account: of }) };
          const { tokens: rows, next } = await call("listTokens", asked);
          return { rows, next };
        },
        page,
        "No tokens.",
      ),
    );

  command
    .command("revoke")
    .description("Revoke a token; servers refuse it within five seconds.")
    .argument("<token-id>", "the token_id that `list` shows", uuid)
    .addHelpText("after", example("drs token revoke 5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11"))
    .action(async (tokenId: string) => {
      await call(context, "revokeToken", { token_id: tokenId });
      print(context, `Revoked ${tokenId}.`);
    });

  return command;
}
