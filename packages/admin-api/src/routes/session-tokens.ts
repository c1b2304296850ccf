import { Type } from "typebox";
import type { Route } from "../route.ts";
import { account, next, nullable, object, page, shape, shownText, ttlMs, uuid } from "../schemas.ts";

const TAG = "Session tokens";

const issued = {
  token_id: shownText(),
  account: shownText(),
  expires_at: shownText(),
};

export const SESSION_TOKEN_ROUTES = {
  listTokens: {
    method: "GET",
    path: "/tokens",
    tag: TAG,
    summary: "List session tokens, newest first",
    description: "The tokens themselves are not kept.",
    permission: "sessions.manage",
    operation: "token.list",
    access: "read",
    query: object({ account: Type.Optional(account), ...page }),
    answer: object({
      tokens: Type.Array(
        shape("SessionToken", { ...issued, issued_at: shownText(), revoked_at: nullable(shownText()) }),
      ),
      next,
    }),
  },
  issueToken: {
    method: "POST",
    path: "/tokens",
    tag: TAG,
    summary: "Issue a session token for an account; it is shown once",
    permission: "sessions.manage",
    operation: "token.issue",
    access: "change",
    body: object({ account, ttl_ms: ttlMs }),
    answer: object({ token: shownText(), ...issued }),
  },
  revokeToken: {
    method: "POST",
    path: "/tokens/{token_id}/revoke",
    tag: TAG,
    summary: "Revoke a session token; servers refuse it within five seconds",
    permission: "sessions.manage",
    operation: "token.revoke",
    access: "change",
    params: object({ token_id: uuid("Id of the token, as the list shows it.") }),
    answer: object({ token_id: shownText() }),
    problems: ["not-found"],
  },
} as const satisfies Readonly<Record<string, Route>>;
