import type { Command } from "commander";
import type { Context } from "./context.ts";
import { TIMES } from "./options.ts";
import { groupOf, routeCommand, routeList } from "./route-command.ts";

export function backupCommand(context: Context): Command {
  return groupOf(
    "backup",
    "drs backup list",
    routeCommand(context, {
      name: "record",
      route: "recordBackup",
      help: "Record that a backup of a store was taken, for drs doctor and receipts.",
      options: { at: { flags: "--at <time>", help: `when the backup began: ${TIMES}` } },
      examples: ["drs backup record --store events --at 2027-01-31T02:00:00Z"],
      lines: ({ store, taken_at, is_new }) =>
        is_new
          ? `Recorded: a backup of the ${store} of ${taken_at}.`
          : `The backup of the ${store} of ${taken_at} was recorded before.`,
    }),
    routeList(context, {
      name: "list",
      route: "listBackups",
      rows: "backups",
      help: "List recorded backups, newest first.",
      options: { store: "only backups of this store" },
      empty: "No backup is recorded: drs backup record.",
      examples: ["drs backup list --store keys"],
    }),
  );
}
