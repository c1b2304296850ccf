import { Command } from "commander";
import { call } from "./call.ts";
import { type Context, print, printRows } from "./context.ts";
import { example, uuid } from "./options.ts";

export function sessionCommand(context: Context): Command {
  const command = new Command("session")
    .description("Sessions of people who signed in: in a browser, or by drs login.")
    .addHelpText("after", example("drs session list"));

  command
    .command("list")
    .description("List active sessions, newest first.")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs session list"))
    .action(async ({ json = false }: { json?: boolean }) => {
      const { sessions } = await call(context, "listSessions", {});
      printRows(context, sessions, json, "No sessions.");
    });

  command
    .command("revoke")
    .description("End a session; its next request is refused.")
    .argument("<session-id>", "the session_id that `list` shows", uuid)
    .addHelpText("after", example("drs session revoke 5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11"))
    .action(async (sessionId: string) => {
      await call(context, "revokeSession", { session_id: sessionId });
      print(context, `Ended ${sessionId}.`);
    });
  return command;
}
