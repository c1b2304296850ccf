import { type Role, ROLE_NAMES } from "@device-risk-signals/admin-api";
import { Command, InvalidArgumentError, Option } from "commander";
import { MAX_TTL_MS } from "../access/identity/admin-tokens.ts";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { count, example, idOrPerson, personName, ttl, uuid } from "./options.ts";
import { type PageOptions, printList } from "./pages.ts";

interface IssueOptions {
  readonly person: string;
  readonly role: readonly Role[];
  readonly ttl: number;
  readonly json?: boolean;
}

export function adminTokenCommand(context: Context): Command {
  const command = new Command("admin-token")
    .description("Tokens for the admin API; kept as hashes only. A token belongs to a person.")
    .addHelpText("after", example("drs admin-token issue --person j.doe --role auditor"));

  command
    .command("issue")
    .description("Issue a token with fixed roles. It is shown once.")
    .requiredOption("--person <name>", "who uses it, as the audit log names them", personName)
    .requiredOption("--role <role...>", `one or more of ${ROLE_NAMES.join(", ")}`, role)
    .addOption(
      new Option("--ttl <duration>", "how long it is valid; at most 90d").argParser(adminTtl).default(86_400_000, "1d"),
    )
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs admin-token issue --person j.doe --role analyst investigator --ttl 30d"))
    .action(async (options: IssueOptions) => {
      const { person: of, role: wanted, ttl: ttl_ms } = options;
      const issued = await call(context, "issueAdminToken", { person: of, roles: [...wanted], ttl_ms });
      if (options.json) return printJson(context, issued);
      print(context, issued.token);
      const roles = issued.roles.join(", ");
      print(context, `For ${issued.person} (${roles}), until ${issued.expires_at}. It is not shown again.`);
    });

  command
    .command("list")
    .description("List admin tokens, newest first. The tokens themselves are not kept.")
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 0)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs admin-token list"))
    .action((page: PageOptions) =>
      printList(
        context,
        async (call, position) => {
          const { tokens: rows, next } = await call("listAdminTokens", position);
          return { rows, next };
        },
        page,
        "No admin tokens.",
      ),
    );

  command
    .command("revoke")
    .description("Revoke an admin token, or all that a person has or obtained.")
    .argument("[token-id]", "the token_id that `list` shows", uuid)
    .option("--person <name>", "revoke all tokens of this person", personName)
    .addHelpText("after", example("drs admin-token revoke 5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11"))
    .action(async (tokenId: string | undefined, { person }: { readonly person?: string }) => {
      if ((tokenId === undefined) === (person === undefined)) throw idOrPerson("a token id");
      if (tokenId !== undefined) await call(context, "revokeAdminToken", { token_id: tokenId });
      const revoked =
        person === undefined ? [tokenId] : (await call(context, "revokeAdminTokensOf", { person })).token_ids;
      if (revoked.length === 0) print(context, "There are no active admin tokens of this person.");
      for (const id of revoked) print(context, `Revoked ${id}.`);
    });
  return command;
}

/** Adds a role to the list. Commander calls it for each role of the option. */
function role(text: string, before: readonly Role[] = []): readonly Role[] {
  const found = ROLE_NAMES.find((known) => known === text);
  if (!found) throw new InvalidArgumentError(`The roles are ${ROLE_NAMES.join(", ")}.`);
  return [...new Set([...before, found])];
}

function adminTtl(text: string): number {
  const value = ttl(text);
  if (value > MAX_TTL_MS) throw new InvalidArgumentError("It must be at most 90d.");
  return value;
}
