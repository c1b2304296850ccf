/** `drs serve --fresh`: deletes the folders of an embedded installation. */
import { readdir, rm } from "node:fs/promises";
import type { Config } from "../base/config/config.ts";
import { EmbeddedPostgres } from "../runtime/embedded-postgres/embedded-postgres.ts";
import { hasCode, OperatorError } from "../base/errors/operator-error.ts";
import { confirm } from "./confirm.ts";
import type { Context } from "./context.ts";

/** The names of files of drafts, which a killed process can leave. */
const DRAFT = "\\.[\\w-]+(?:\\.new)?";

/** Matches the names that a folder of this installation has. */
const names = (own: string): RegExp => new RegExp(`^(?:${own}|lost\\+found|${DRAFT})$`);
const DATA = names("postgres|initdb-.+|postgres\\.log(?:\\.old)?|socket|admin-token");
const KEYS = names("secrets|destroyed|mark|journal-head|installation|key-encryption-key");
const JOURNAL = names("\\d{6,}|losses|audit-checkpoints");
const CHECKPOINTS = names("\\d{4}-\\d{2}-\\d{2}\\.checkpoint");

/**
 * Deletes the folders of data, keys, journal and checkpoints after a confirmation.
 * @throws wrong-usage if a store is a database; data-directory-in-use, data-directory-unusable
 */
export async function startOver(context: Context, config: Config, yes: boolean | undefined): Promise<void> {
  const { embedded, database, keys, journal, audit } = config;
  // guard: a production installation is never deleted by an option of its start
  if (!embedded || keys.databaseUrl !== undefined || journal.databaseUrl !== undefined) {
    const databases = "DRS_DATABASE_URL, DRS_KEY_DATABASE_URL or DRS_ERASURE_JOURNAL_DATABASE_URL";
    throw new OperatorError("wrong-usage", `--fresh deletes folders, and ${databases} is set. Nothing was changed.`);
  }
  const stores = [
    [database.directory, DATA],
    [keys.directory, KEYS],
    [journal.directory, JOURNAL],
    [audit.checkpointDirectory, CHECKPOINTS],
  ] as const;
  const folders: string[] = [];
  for (const [folder, own] of stores) if (folder !== undefined && (await isFilled(folder, own))) folders.push(folder);
  if (folders.length === 0) return;
  await requireUnserved(database.directory);
  await confirm(context, { what: `Everything in ${folders.join(", ")} is deleted, keys and journal included.`, yes });
  for (const folder of folders) await rm(folder, { recursive: true });
}

/** Whether the folder has files. @throws data-directory-unusable if it has files of other programs. */
async function isFilled(folder: string, own: RegExp): Promise<boolean> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const other = found.find((name) => !own.test(name));
  // guard: a setting that names a wrong folder deletes nothing in it
  if (other !== undefined) {
    const message = `${folder} also holds ${other}, which is not of this server. Nothing was changed.`;
    throw new OperatorError("data-directory-unusable", message);
  }
  return found.length > 0;
}

/** @throws data-directory-in-use if a server runs on the data directory. */
async function requireUnserved(dataDir: string): Promise<void> {
  const opening = EmbeddedPostgres.open({ dataDir, asServer: true, creates: false, onError: () => {} });
  const embedded = await opening.catch((error: unknown) => {
    if (hasCode(error, "data-directory-in-use")) throw error;
    // No server runs on a database that can't be started.
  });
  await embedded?.close();
}
