import { Type } from "typebox";
import type { Route } from "../route.ts";
import { count, nullable, object, shape, shownText, time } from "../schemas.ts";

const TAG = "Backups";

export const BACKUP_STORES = ["events", "keys", "journal"] as const;
export type BackupStore = (typeof BACKUP_STORES)[number];

/** Maximum number of backups that the list has, newest first. */
export const MAX_LISTED_BACKUPS = 200;

const store = Type.Enum([...BACKUP_STORES], { description: "What was backed up." });

export const BACKUP_ROUTES = {
  recordBackup: {
    method: "POST",
    path: "/backups",
    tag: TAG,
    summary: "Record that a backup of a store was taken",
    description: "The server takes and deletes no backup. Health and receipts use what is recorded.",
    permission: "backups.record",
    operation: "backup.record",
    access: "change",
    appliedBy: "worker",
    isRepeatable: true,
    body: object({
      store,
      at: time("When the backup began; neither in the future nor before the installation was created."),
    }),
    answer: object({
      store,
      taken_at: shownText(),
      is_new: Type.Boolean({ description: "False: this backup was recorded before." }),
    }),
  },
  listBackups: {
    method: "GET",
    path: "/backups",
    tag: TAG,
    summary: "List recorded backups, newest first, and how old the latest of each store is",
    description: `At most ${MAX_LISTED_BACKUPS}.`,
    permission: "backups.read",
    operation: "backup.list",
    access: "read",
    query: object({ store: Type.Optional(store) }),
    answer: object({
      backups: Type.Array(
        shape("Backup", { store, taken_at: shownText(), recorded_at: shownText(), recorded_by: shownText() }),
      ),
      stores: Type.Array(
        shape("BackupState", {
          store,
          taken_at: nullable(shownText("When its latest recorded backup began; null: none is recorded.")),
          age_seconds: nullable(count()),
          problem: nullable(shownText("Why this backup is too old; null: it is not.")),
        }),
      ),
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
