import { Command } from "commander";
import { auditLogCommands } from "./audit-log.ts";
import { auditReviewCommand } from "./audit-review.ts";
import { withCalls } from "./call.ts";
import type { Context } from "./context.ts";
import { account, count, example, uuid } from "./options.ts";
import { printPages } from "./pages.ts";

interface ListOptions {
  readonly event?: string;
  readonly account?: string;
  readonly limit: number;
  readonly json?: boolean;
}

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
        ...(options.event !== undefined && { event_id: options.event }),
        ...(options.account !== undefined && { account: options.account }),
      };
      await withCalls(context, "read", (call) =>
        printPages(
          context,
          async (page) => {
            const { entries, next } = await call("listAudit", { ...filter, ...page });
            return { rows: entries, next };
          },
          options,
          "No audit entries.",
        ),
      );
    });
  command.addCommand(auditReviewCommand(context));
  for (const one of auditLogCommands(context)) command.addCommand(one);
  return command;
}
