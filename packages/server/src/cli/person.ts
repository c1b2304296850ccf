import type { Command } from "commander";
import type { Context } from "./context.ts";
import { groupOf, routeList } from "./route-command.ts";

export function personCommand(context: Context): Command {
  return groupOf(
    "person",
    "drs person list",
    routeList(context, {
      name: "list",
      route: "listPeople",
      rows: "people",
      help: "List who signed in or has an admin token, the latest first.",
      empty: "No sign-ins and no active admin tokens.",
      columns: ["person", "name", "roles", "signed_in_at", "sessions", "tokens"],
      examples: ["drs person list", "drs person list --wide"],
    }),
  );
}
