import type { Command } from "commander";
import type { Context } from "./context.ts";
import { byIdOrPerson, groupOf, routeList } from "./route-command.ts";
import type { IdList } from "./short-id.ts";

const IDS: IdList = { list: "listSessions", rows: "sessions", id: "session_id" };

export function sessionCommand(context: Context): Command {
  return groupOf(
    "session",
    "drs session list",
    routeList(context, {
      name: "list",
      route: "listSessions",
      rows: "sessions",
      help: "List active sessions, newest first.",
      empty: "No sessions.",
      shortened: "session_id",
      columns: ["session_id", "person", "name", "kind", "roles", "last_used_at"],
      examples: ["drs session list"],
    }),
    byIdOrPerson(context, {
      name: "revoke",
      help: "End a session, or all of a person; their next request is refused.",
      ids: IDS,
      personHelp: "end all sessions of this person",
      example: "drs session revoke 5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11",
      none: "There are no active sessions of this person.",
      done: "Ended",
      end: async (call, session_id, person) => {
        if (session_id === undefined) return (await call("revokeSessionsOf", { person })).session_ids;
        await call("revokeSession", { session_id });
        return [session_id];
      },
    }),
  );
}
