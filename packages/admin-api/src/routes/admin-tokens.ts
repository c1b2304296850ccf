import { Type } from "typebox";
import { ROLE_NAMES } from "../permissions.ts";
import { GOVERNANCE_CHANGE, type Route } from "../route.ts";
import { next, nullable, object, page, personName, shape, shownText, uuid } from "../schemas.ts";

const TAG = "Admin tokens";

/** 90 days. */
const MAX_TTL_MS = 7_776_000_000;

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
        shape("AdminToken", {
          token_id: shownText(),
          person: shownText(),
          obtained_by: nullable(shownText("The person who asked for it through the admin API, and received it.")),
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
  issueAdminToken: {
    ...GOVERNANCE_CHANGE,
    path: "/admin-tokens",
    tag: TAG,
    summary: "Issue an admin token with fixed roles",
    description: "It needs an approval by privacy. The answer has the token, which the server does not store.",
    permission: "admin-tokens.issue",
    operation: "admin-token.issue",
    recentSignIn: true,
    body: object({
      person: personName,
      roles: Type.Array(Type.Enum([...ROLE_NAMES]), { minItems: 1, maxItems: ROLE_NAMES.length, uniqueItems: true }),
      ttl_ms: Type.Integer({
        minimum: 1,
        maximum: MAX_TTL_MS,
        description: "How long it is valid, in milliseconds: at most 90 days.",
      }),
    }),
    answer: object({
      token: shownText(),
      token_id: shownText(),
      person: shownText(),
      roles: Type.Array(Type.Enum([...ROLE_NAMES])),
      expires_at: shownText(),
    }),
    problems: ["state-conflict"],
  },
  revokeAdminToken: {
    method: "POST",
    path: "/admin-tokens/{token_id}/revoke",
    tag: TAG,
    summary: "Revoke an admin token; servers refuse it within five seconds",
    permission: "admin-tokens.revoke",
    operation: "admin-token.revoke",
    access: "change",
    params: object({ token_id: uuid("Id of the token, as the list shows it.") }),
    answer: object({ token_id: shownText() }),
    problems: ["not-found"],
  },
  revokeAdminTokensOf: {
    method: "POST",
    path: "/admin-tokens/revoke",
    tag: TAG,
    summary: "Revoke all admin tokens of a person, and the tokens that the person obtained for others",
    permission: "admin-tokens.revoke",
    operation: "admin-token.revoke",
    access: "change",
    body: object({ person: personName }),
    answer: object({ token_ids: Type.Array(shownText()) }),
  },
} as const satisfies Readonly<Record<string, Route>>;
