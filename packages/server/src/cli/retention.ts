import type { Answer } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { plural } from "../base/messages/plural.ts";
import { call, withCalls } from "./call.ts";
import { placeOf, showInstallation } from "./local.ts";
import { confirm } from "./confirm.ts";
import { type Context, print, printJson } from "./context.ts";
import { printRows } from "./table.ts";
import { example } from "./options.ts";
import { routeCommand } from "./route-command.ts";

interface RunOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function retentionCommand(context: Context): Command {
  const command = new Command("retention").addHelpText("after", example("drs retention status"));

  command
    .command("run")
    .description("Run one pass now. It deletes only what no read finds any more. Asks only in a terminal.")
    .option("--dry-run", "print what is overdue, and change nothing")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs retention run"))
    .action(async ({ dryRun = false, yes, json = false }: RunOptions) => {
      if (dryRun) {
        const overdue = await call(context, "readOverdue", {});
        if (json) return printJson(context, { ...overdue, dry_run: true });
        return print(context, `${overdueText(overdue)} Nothing was changed.`);
      }
      const expired = await withCalls(context, "change", async (invoke) => {
        await showInstallation(context, invoke);
        if (context.ask) await confirmOverdue(context, await invoke("readOverdue", {}), yes);
        return invoke("runRetention", {});
      });
      if (json) return printJson(context, expired);
      const { partitions, rows, bytes, secrets, keys, copies, held, features } = expired;
      print(
        context,
        `Deleted: ${plural(partitions, "partition")} (${bytes} bytes), ${plural(rows, "event")}, ${plural(copies, "copy", "copies")} of holds,`,
      );
      print(
        context,
        `${plural(keys, "idempotency key")} past the replay window. Kept by holds: ${plural(held, "event")} of these partitions.`,
      );
      const values = features > 0 ? ` Deleted: ${plural(features, "row of features", "rows of features")}.` : "";
      print(context, `Destroyed: ${plural(secrets, "secret")}.${values}`);
    });

  command.addCommand(
    routeCommand(context, {
      name: "status",
      route: "readRetention",
      help: "Show overdue deletions, and the last passes that deleted something.",
      examples: ["drs retention status --json"],
      show: ({ overdue_partitions, overdue_rows, secrets_to_destroy, lag_seconds, runs }) => {
        const overdue = [
          overdue_partitions > 0 &&
            `${plural(overdue_partitions, "partition")}, the oldest by ${Math.round(lag_seconds)} s`,
          overdue_rows > 0 && `${plural(overdue_rows, "event")} of other partitions`,
          secrets_to_destroy > 0 && `${plural(secrets_to_destroy, "secret")} to destroy`,
        ].filter((text) => text !== false);
        print(context, overdue.length === 0 ? "Nothing is overdue." : `Overdue: ${overdue.join("; ")}.`);
        printRows(context, runs, "No pass has deleted anything yet.");
      },
    }),
  );
  return command;
}

type Overdue = Answer<"readOverdue">;

const overdueText = ({ overdue_partitions, overdue_rows }: Overdue): string =>
  `A pass drops ${plural(overdue_partitions, "partition")}, and deletes ${plural(overdue_rows, "event")} of other partitions row by row.`;

async function confirmOverdue(context: Context, overdue: Overdue, yes: boolean | undefined): Promise<void> {
  if (overdue.overdue_partitions + overdue.overdue_rows > 0)
    await confirm(context, { what: overdueText(overdue), yes, where: placeOf(context) });
}
