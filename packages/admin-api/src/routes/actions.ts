import { Type } from "typebox";
import type { Route } from "../route.ts";
import {
  account,
  actionId,
  actionType,
  next,
  nullable,
  object,
  page,
  sessionId,
  shape,
  shownText,
  ttlMs,
} from "../schemas.ts";

const TAG = "Actions";

const named = { action_id: shownText(), action_type: shownText(), account: shownText() };

export const ACTION_ROUTES = {
  listActions: {
    method: "GET",
    path: "/actions",
    tag: TAG,
    summary: "List actions, newest first",
    permission: "sessions.manage",
    operation: "action.list",
    access: "read",
    query: object({ account: Type.Optional(account), ...page }),
    answer: object({
      actions: Type.Array(
        shape("Action", {
          ...named,
          session_id: nullable(shownText()),
          expires_at: shownText(),
          revoked_at: nullable(shownText()),
        }),
      ),
      next,
    }),
  },
  registerAction: {
    method: "POST",
    path: "/actions",
    tag: TAG,
    summary: "Register an action; registering it again identically changes nothing",
    permission: "sessions.manage",
    operation: "action.register",
    access: "change",
    body: object({
      account,
      action_type: actionType,
      action_id: Type.Optional(actionId),
      session_id: Type.Optional(sessionId),
      ttl_ms: ttlMs,
    }),
    answer: object({ ...named, expires_at: shownText(), session_id: Type.Optional(shownText()) }),
    problems: ["state-conflict"],
  },
  revokeAction: {
    method: "POST",
    path: "/actions/revoke",
    tag: TAG,
    summary: "Revoke an action; servers refuse it within five seconds",
    permission: "sessions.manage",
    operation: "action.revoke",
    access: "change",
    body: object({ account, action_id: actionId }),
    answer: object({ action_id: shownText() }),
    problems: ["not-found"],
  },
} as const satisfies Readonly<Record<string, Route>>;
