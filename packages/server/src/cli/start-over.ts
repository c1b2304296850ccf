/** `drs serve --fresh`: deletes the folders of an embedded installation. */
import { readdir, rm } from "node:fs/promises";
import type { Config } from "../base/config/config.ts";
import { EmbeddedPostgres } from "../runtime/embedded-postgres/embedded-postgres.ts";
import { isDraft } from "../base/files/durable-file.ts";
import { hasCode, OperatorError } from "../base/errors/operator-error.ts";
import { confirm } from "./confirm.ts";
import type { Context } from "./context.ts";

/** The names that a folder of this installation has, without drafts. */
const DATA = /^(?:postgres|initdb-.+|postgres\.log(?:\.old)?|socket|admin-token|demo|lost\+found)$/;
const KEYS = /^(?:secrets|destroyed|mark|journal-head|installation|key-encryption-key|lost\+found)$/;
const JOURNAL = /^(?:\d{6,}|losses|audit-checkpoints|lost\+found)$/;
const CHECKPOINTS = /^(?:\d{4}-\d{2}-\d{2}\.checkpoint|lost\+found)$/;

/**
 * Deletes the folders of data, keys, journal and checkpoints after a confirmation.
 * @throws wrong-usage if a store is a database; data-directory-in-use, data-directory-unusable
 */
export async function startOver(context: Context, config: Config, yes: boolean | undefined): Promise<void> {
  const { embedded, database, keys, journal } = config;
  // guard: a production installation is never deleted by an option of its start
  if (!embedded || keys.databaseUrl !== undefined || journal.databaseUrl !== undefined) {
    const databases = "DRS_DATABASE_URL, DRS_KEY_DATABASE_URL or DRS_ERASURE_JOURNAL_DATABASE_URL";
    throw new OperatorError("wrong-usage", `--fresh deletes folders, and ${databases} is set. Nothing was changed.`);
  }
  const folders = await filledFolders(config);
  if (folders.length === 0) return;
  await requireUnserved(database.directory);
  await confirm(context, { what: `Everything in ${folders.join(", ")} is deleted, keys and journal included.`, yes });
  for (const folder of folders) await rm(folder, { recursive: true });
}

/** The folders of the installation that have files. @throws data-directory-unusable if one has files of other programs. */
export async function filledFolders({ database, keys, journal, audit }: Config): Promise<readonly string[]> {
  const stores = [
    [database.directory, DATA],
    [keys.directory, KEYS],
    [journal.directory, JOURNAL],
    [audit.checkpointDirectory, CHECKPOINTS],
  ] as const;
  const folders: string[] = [];
  for (const [folder, own] of stores) if (folder !== undefined && (await isFilled(folder, own))) folders.push(folder);
  return folders;
}

/** Whether the folder has files. @throws data-directory-unusable if it has files of other programs. */
async function isFilled(folder: string, own: RegExp): Promise<boolean> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const other = found.find((name) => !own.test(name) && !isDraft(name, own));
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
