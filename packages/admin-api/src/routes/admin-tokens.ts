import { Type } from "typebox";
import { ROLE_NAMES } from "../permissions.ts";
import type { Route } from "../route.ts";
import { next, nullable, object, page, shownText, uuid } from "../schemas.ts";

const TAG = "Admin tokens";

export const ADMIN_TOKEN_ROUTES = {
  listAdminTokens: {
    method: "GET",
    path: "/admin-tokens",
    tag: TAG,
    summary: "List admin tokens, newest first",
    description: "The tokens themselves are not kept.",
    permission: "admin-tokens.read",
    operation: "admin-token.list",
    access: "read",
    query: object(page),
    answer: object({
      tokens: Type.Array(
        object({
          token_id: shownText(),
          person: shownText(),
          roles: Type.Array(Type.Enum([...ROLE_NAMES])),
          issued_at: shownText(),
          expires_at: shownText(),
          last_used_at: nullable(shownText("To the minute.")),
          revoked_at: nullable(shownText()),
        }),
      ),
      next,
    }),
  },
  revokeAdminToken: {
    method: "POST",
    path: "/admin-tokens/{token_id}/revoke",
    tag: TAG,
    summary: "Revoke an admin token; servers follow within five seconds",
    permission: "admin-tokens.revoke",
    operation: "admin-token.revoke",
    access: "change",
    params: object({ token_id: uuid("Id of the token, as the list shows it.") }),
    answer: object({ token_id: shownText() }),
    problems: ["not-found"],
  },
} as const satisfies Readonly<Record<string, Route>>;
