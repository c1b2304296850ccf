import { ROLE_NAMES } from "@device-risk-signals/admin-api";
import { type Command, InvalidArgumentError } from "commander";
import { MAX_TTL_MS } from "../access/identity/admin-tokens.ts";
import type { Context } from "./context.ts";
import { personName, ttl } from "./options.ts";
import { roleList } from "./role-list.ts";
import { byIdOrPerson, groupOf, routeCommand, routeList } from "./route-command.ts";
import type { IdList } from "./short-id.ts";

const IDS: IdList = { list: "listAdminTokens", rows: "tokens", id: "token_id" };

export function adminTokenCommand(context: Context): Command {
  return groupOf(
    "admin-token",
    "drs admin-token issue --person j.doe --role auditor",
    routeCommand(context, {
      name: "issue",
      route: "issueAdminToken",
      help: "Issue a token with fixed roles. It is shown once.",
      options: {
        person: { flags: "--person <name>", help: "who uses it, as the audit log names them", read: personName },
        roles: { flags: "--role <role...>", help: `one or more of ${ROLE_NAMES.join(", ")}`, read: roleList },
        ttl_ms: { help: "how long it is valid; at most 90d", read: adminTtl, fallback: [86_400_000, "1d"] },
      },
      examples: ["drs admin-token issue --person j.doe --role analyst investigator --ttl 30d"],
      lines: ({ token, person, roles, expires_at }) => [
        token,
        `For ${person} (${roles.join(", ")}), until ${expires_at}. It is not shown again.`,
      ],
    }),
    routeList(context, {
      name: "list",
      route: "listAdminTokens",
      rows: "tokens",
      help: "List admin tokens, newest first. The tokens themselves are not kept.",
      empty: "No admin tokens.",
      shortened: "token_id",
      columns: ["token_id", "person", "roles", "expires_at", "last_used_at", "revoked_at"],
      examples: ["drs admin-token list"],
    }),
    byIdOrPerson(context, {
      name: "revoke",
      help: "Revoke an admin token, or all that a person has or obtained.",
      ids: IDS,
      personHelp: "revoke all tokens of this person",
      example: "drs admin-token revoke 5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11",
      none: "There are no active admin tokens of this person.",
      done: "Revoked",
      end: async (call, token_id, person) => {
        if (token_id === undefined) return (await call("revokeAdminTokensOf", { person })).token_ids;
        await call("revokeAdminToken", { token_id });
        return [token_id];
      },
    }),
  );
}

function adminTtl(text: string): number {
  const value = ttl(text);
  if (value > MAX_TTL_MS) throw new InvalidArgumentError("It must be at most 90d.");
  return value;
}
