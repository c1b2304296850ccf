/** An installation: the events' database, the key store and the erasure journal. */
import type { KnownEntry } from "../lifecycle/journal/chain.ts";
import { journalWithDeadline } from "../lifecycle/journal/journal-with-deadline.ts";
import { directoryJournal } from "../lifecycle/journal/directory-journal.ts";
import type { ErasureJournal } from "../lifecycle/journal/journal.ts";
import { postgresJournal } from "../lifecycle/journal/postgres-journal.ts";
import { attestedEntry } from "../lifecycle/receipts/attested-entry.ts";
import type { CheckpointSink } from "../audit/checkpoint-sink.ts";
import { checkpointSinks } from "./checkpoint-sinks.ts";
import { type OpenConnection, storeDatabases } from "./connect.ts";
import { type Keys, openKeys } from "./open-keys.ts";

export interface Installation extends Omit<OpenConnection, "opened">, Keys {
  /**
   * The journal. Absent if the database is external and no journal is configured. Without a journal, nothing can be
   * erased.
   */
  readonly journal: ErasureJournal | undefined;
  /** The places outside the database that keep checkpoints of the audit log. */
  readonly checkpointSinks: readonly CheckpointSink[];
  /** An entry that the journal must contain, because the configured receipt names it. */
  readonly attested: KnownEntry | undefined;
}

/**
 * @param opening the keys, if they are open already.
 * @throws what `openKeys` throws; an error with a journal-… code, Unavailable
 */
export async function openInstallation(
  connection: OpenConnection,
  opening: Promise<Keys> = openKeys(connection),
): Promise<Installation> {
  const { config } = connection;
  const keys = await opening;
  const journal = await openJournal(connection);
  const attested = await attestedEntry(config.journal.receiptFile, keys.receipts, keys.codec.installation);
  return { ...connection, ...keys, journal, checkpointSinks: checkpointSinks(connection, journal), attested };
}

/** @throws Unavailable */
export async function openJournal(connection: OpenConnection): Promise<ErasureJournal | undefined> {
  const journal = await findJournal(connection);
  if (journal) connection.opened.add("erasure journal", () => journal.close());
  return journal;
}

async function findJournal(connection: OpenConnection): Promise<ErasureJournal | undefined> {
  const { access, config, dependencies } = connection;
  const { journalDatabase } = storeDatabases(connection);
  if (journalDatabase) return postgresJournal(journalDatabase, access !== "change");
  const { directory } = config.journal;
  if (directory === undefined) return undefined;
  return journalWithDeadline(directoryJournal(directory), dependencies.get("erasure_journal"));
}
