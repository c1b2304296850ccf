import { Command } from "commander";
import { call } from "./call.ts";
import { type Context, print } from "./context.ts";
import { count, example, idOrPerson, personName, uuid } from "./options.ts";
import { type PageOptions, printList } from "./pages.ts";

export function sessionCommand(context: Context): Command {
  const command = new Command("session")
    .description("Sessions of people who signed in: in a browser, or by drs login.")
    .addHelpText("after", example("drs session list"));

  command
    .command("list")
    .description("List active sessions, newest first.")
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 0)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs session list"))
    .action((page: PageOptions) =>
      printList(
        context,
        async (call, position) => {
          const { sessions: rows, next } = await call("listSessions", position);
          return { rows, next };
        },
        page,
        "No sessions.",
      ),
    );

  command
    .command("revoke")
    .description("End a session, or all of a person; their next request is refused.")
    .argument("[session-id]", "the session_id that `list` shows", uuid)
    .option("--person <name>", "end all sessions of this person", personName)
    .addHelpText("after", example("drs session revoke 5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11"))
    .action(async (sessionId: string | undefined, { person }: { readonly person?: string }) => {
      if ((sessionId === undefined) === (person === undefined)) throw idOrPerson("a session id");
      if (sessionId !== undefined) await call(context, "revokeSession", { session_id: sessionId });
      const ended =
        person === undefined ? [sessionId] : (await call(context, "revokeSessionsOf", { person })).session_ids;
      if (ended.length === 0) print(context, "There are no active sessions of this person.");
      for (const id of ended) print(context, `Ended ${id}.`);
    });
  return command;
}
