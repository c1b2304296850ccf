import { Type } from "typebox";
import { ROLE_NAMES } from "../permissions.ts";
import type { Route } from "../route.ts";
import { count, displayName, next, nullable, object, page, shape, shownText } from "../schemas.ts";

export const PEOPLE_ROUTES = {
  listPeople: {
    method: "GET",
    path: "/people",
    tag: "People",
    summary: "List who signed in or has an admin token, the latest first",
    description:
      "People whose last sign-in is longer ago than `DRS_AUDIT_REASON_RETENTION` are not in the list, unless they are " +
      "signed in or have an active token.",
    permission: "people.read",
    operation: "person.list",
    access: "read",
    query: object(page),
    answer: object({
      people: Type.Array(
        shape("Person", {
          person: shownText("The person, as the audit log names them."),
          name: displayName,
          identities: Type.Array(
            shownText(
              "The first 16 digits of a hash of issuer and subject, as audit entries have it; the latest first.",
            ),
          ),
          roles: Type.Array(Type.Enum([...ROLE_NAMES]), {
            description: "Roles at the last sign-in of each identity, and of active admin tokens.",
          }),
          signed_in_at: nullable(shownText("The last sign-in.")),
          sessions: count("Number of active sessions."),
          tokens: count("Number of active admin tokens."),
        }),
      ),
      next,
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
