import type { Answer } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { auditLogCommands } from "./audit-log.ts";
import { auditReviewCommand } from "./audit-review.ts";
import { type Call, withCalls } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { erasureLine } from "./erasure-line.ts";
import { account, count, example, name, time, TIMES, uuid } from "./options.ts";
import { type Page, type PageOptions, printPages } from "./pages.ts";
import { isTable, printsJson, withTableOptions } from "./table.ts";

interface ListOptions extends PageOptions {
  readonly event?: string;
  readonly account?: string;
  readonly person?: string;
  readonly operation?: string;
  readonly from?: number;
  readonly to?: number;
}

export function auditCommand(context: Context): Command {
  const command = new Command("audit").addHelpText("after", example("drs audit list"));
  withTableOptions(command.command("list"))
    .description("List audit entries, newest first.")
    .option("--event <event-id>", "only entries about this event", uuid)
    .option("--account <account>", "only entries about this account", account)
    .option("--person <name>", "only entries of this person", name("a name", 128))
    .option("--operation <operation>", "only this operation, such as event.read_raw", name("an operation", 64))
    .option("--from <time>", `at this time or later: ${TIMES}`, time(context.clock))
    .option("--to <time>", "before this time", time(context.clock))
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 100)
    .addHelpText(
      "after",
      example("drs audit list --account customer-1 --json", "drs audit list --person ann --from 2027-01-31"),
    )
    .action(async (options: ListOptions) => {
      const filter = {
        ...(options.event !== undefined && { event_id: options.event }),
        ...(options.account !== undefined && { account: options.account }),
        ...(options.person !== undefined && { person: options.person }),
        ...(options.operation !== undefined && { operation: options.operation }),
        ...(options.from !== undefined && { from: new Date(options.from).toISOString() }),
        ...(options.to !== undefined && { to: new Date(options.to).toISOString() }),
      };
      let erasures: Answer<"listAudit">["erasures"] = [];
      const read = (call: Call) => async (page: Page) => {
        const { entries, next, erasures: found } = await call("listAudit", { ...filter, ...page });
        erasures = found;
        return { rows: entries, next };
      };
      const columns = ["at", "actor", "operation", "outcome", "account", "reason"];
      await withCalls(context, "read", (call) =>
        printPages(context, read(call), options, { empty: "No audit entries.", columns }),
      );
      for (const erasure of erasures.toReversed()) {
        if (printsJson(options)) printJson(context, erasure);
        else if (isTable(options)) print(context, erasureLine(erasure));
      }
    });
  command.addCommand(auditReviewCommand(context));
  for (const one of auditLogCommands(context)) command.addCommand(one);
  return command;
}
