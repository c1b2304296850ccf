import { Command } from "commander";
import { listAudit } from "../audit/audit.ts";
import { type Context, printRows, withConnection } from "./context.ts";
import { account, count, example, uuid } from "./options.ts";

interface ListOptions {
  readonly event?: string;
  readonly account?: string;
  readonly limit: number;
  readonly json?: boolean;
}

const ALL = 1_000_000_000;

export function auditCommand(context: Context): Command {
  const command = new Command("audit")
    .description("The audit log: who did what, when, and with which outcome.")
    .addHelpText("after", example("drs audit list"));
  command
    .command("list")
    .description("List audit entries, newest first.")
    .option("--event <event-id>", "only entries about this event", uuid)
    .option("--account <account>", "only entries about this account", account)
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 100)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs audit list --account customer-1 --json"))
    .action(async (options: ListOptions) => {
      const filter = {
        limit: options.limit === 0 ? ALL : options.limit,
        ...(options.event !== undefined && { eventId: options.event }),
        ...(options.account !== undefined && { account: options.account }),
      };
      const rows = await withConnection(context, "read", ({ pool }) => listAudit(pool, filter));
      printRows(context, rows, options.json ?? false, "No audit entries.");
    });
  return command;
}
