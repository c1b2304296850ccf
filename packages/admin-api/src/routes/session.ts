import { Type } from "typebox";
import { ROLE_NAMES } from "../permissions.ts";
import type { Route } from "../route.ts";
import { displayName, next, nullable, object, page, personName, shape, shownText, time, uuid } from "../schemas.ts";

const TAG = "Session";

const ended = object({ session_id: shownText() });

export const SESSION_ROUTES = {
  readSession: {
    method: "GET",
    path: "/session",
    tag: TAG,
    summary: "The person and the roles that the server found for the caller",
    permission: "session.read",
    operation: "session.read",
    access: "read",
    answer: object({
      installation: shownText("Id of the installation that answers."),
      version: shownText("Version of the server."),
      is_demo: Type.Boolean({ description: "Whether its data are those of `drs demo`." }),
      person: shownText("The person, as the audit log names them."),
      name: displayName,
      roles: Type.Array(Type.Enum([...ROLE_NAMES])),
      via: shownText(
        "How the caller signed in: `api` by an admin token, `console` by a browser, `cli` by `drs login`.",
      ),
      expires_at: nullable(time("When the credential expires.")),
      authenticated_at: nullable(time("When the person gave proof to the identity provider; null for admin tokens.")),
    }),
  },
  signOut: {
    method: "POST",
    path: "/sign-out",
    tag: TAG,
    summary: "End the session of the caller",
    description:
      "Ends a session of the console or of `drs login`. An admin token has no session: revoke the token instead.",
    permission: "session.read",
    operation: "session.sign_out",
    access: "change",
    answer: ended,
    problems: ["not-found"],
  },
  listSessions: {
    method: "GET",
    path: "/sessions",
    tag: TAG,
    summary: "List active sessions of people, newest first",
    permission: "admin-tokens.read",
    operation: "session.list",
    access: "read",
    query: object(page),
    answer: object({
      sessions: Type.Array(
        shape("Session", {
          session_id: shownText(),
          kind: Type.Enum(["console", "login"], { description: "`login`: a session of `drs login`." }),
          person: shownText(),
          name: displayName,
          roles: Type.Array(Type.Enum([...ROLE_NAMES])),
          authenticated_at: nullable(shownText()),
          started_at: shownText(),
          last_used_at: shownText("To the minute."),
          expires_at: shownText(),
        }),
      ),
      next,
    }),
  },
  revokeSession: {
    method: "POST",
    path: "/sessions/{session_id}/revoke",
    tag: TAG,
    summary: "End a session of any person; servers refuse it within five seconds",
    permission: "admin-tokens.revoke",
    operation: "session.revoke",
    access: "change",
    params: object({ session_id: uuid("Id of the session, as the list shows it.") }),
    answer: ended,
    problems: ["not-found"],
  },
  revokeSessionsOf: {
    method: "POST",
    path: "/sessions/revoke",
    tag: TAG,
    summary: "End all sessions of a person",
    permission: "admin-tokens.revoke",
    operation: "session.revoke",
    access: "change",
    body: object({ person: personName }),
    answer: object({ session_ids: Type.Array(shownText()) }),
  },
} as const satisfies Readonly<Record<string, Route>>;
