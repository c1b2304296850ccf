import { Type } from "typebox";
import { ROLE_NAMES } from "../permissions.ts";
import type { Route } from "../route.ts";
import { nullable, object, shownText, time } from "../schemas.ts";

const TAG = "Session";

export const SESSION_ROUTES = {
  readSession: {
    method: "GET",
    path: "/session",
    tag: TAG,
    summary: "Who the server takes the caller for",
    permission: "session.read",
    operation: "session.read",
    access: "read",
    answer: object({
      person: shownText("The person, as the audit log names them."),
      roles: Type.Array(Type.Enum([...ROLE_NAMES])),
      via: shownText("How the caller signed in: `api` by a token, `console` by a browser session."),
      expires_at: nullable(time("When the credential expires.")),
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
