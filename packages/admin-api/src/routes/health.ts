import { Type } from "typebox";
import type { Route } from "../route.ts";
import { object, shape, shownText } from "../schemas.ts";

const TAG = "Health";
const read = { method: "GET", tag: TAG, permission: "health.read", access: "read" } as const;

export const HEALTH_ROUTES = {
  readHealth: {
    ...read,
    path: "/health",
    summary: "What the server needs, whether it has it, and what is overdue",
    operation: "health.read",
    answer: object({
      findings: Type.Array(
        shape("HealthFinding", {
          what: shownText("What was examined."),
          ok: Type.Boolean({ description: "False: something has to be done now." }),
          severity: Type.Optional(
            Type.Enum(["advice", "warning"], { description: "Of a finding that is no failure." }),
          ),
          detail: shownText(),
        }),
      ),
    }),
  },
  readConfiguration: {
    ...read,
    path: "/configuration",
    summary: "The effective configuration, secrets masked",
    operation: "configuration.read",
    answer: object({
      settings: Type.Array(
        shape("Setting", {
          name: shownText("Name of the variable."),
          value: Type.Unknown({
            description: "The value; of a secret that is set, `(set)`; null where there is none.",
          }),
          text: shownText("The value as a variable has it: a duration with its unit."),
        }),
      ),
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
