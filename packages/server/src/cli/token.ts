import type { Command } from "commander";
import type { Context } from "./context.ts";
import { groupOf, routeCommand, routeList } from "./route-command.ts";
import type { IdList } from "./short-id.ts";

const IDS: IdList = { list: "listTokens", rows: "tokens", id: "token_id" };

export function tokenCommand(context: Context): Command {
  return groupOf(
    "token",
    "drs token issue --account customer-1",
    routeCommand(context, {
      name: "issue",
      route: "issueToken",
      help: "Issue a token for an account. It is shown once.",
      options: { account: "account that the token authenticates", ttl_ms: { fallback: [3_600_000, "1h"] } },
      examples: ["drs token issue --account customer-1 --ttl 1h --json"],
      lines: ({ token, account, expires_at }) => [token, `For ${account}, until ${expires_at}. It is not shown again.`],
    }),
    routeList(context, {
      name: "list",
      route: "listTokens",
      rows: "tokens",
      help: "List tokens, newest first. The tokens themselves are not kept.",
      options: { account: "only tokens of this account" },
      empty: "No tokens.",
      shortened: "token_id",
      examples: ["drs token list --account customer-1"],
    }),
    routeCommand(context, {
      name: "revoke",
      route: "revokeToken",
      help: "Revoke a token; servers refuse it within five seconds.",
      argument: ["token_id", "the token_id that `list` shows"],
      ids: IDS,
      json: false,
      examples: ["drs token revoke 5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11"],
      lines: (_, { token_id }) => `Revoked ${token_id}.`,
    }),
  );
}
