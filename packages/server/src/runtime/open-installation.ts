/** An installation: the events' database, the key store and the erasure journal. */
import type { KnownEntry } from "../lifecycle/journal/chain.ts";
import { journalWithDeadline } from "../lifecycle/journal/journal-with-deadline.ts";
import { directoryJournal } from "../lifecycle/journal/directory-journal.ts";
import type { ErasureJournal } from "../lifecycle/journal/journal.ts";
import { postgresJournal } from "../lifecycle/journal/postgres-journal.ts";
import { attestedEntry } from "../lifecycle/receipts/attested-entry.ts";
import type { DatabaseOptions } from "../store/postgres/database.ts";
import type { CheckpointSink } from "../audit/checkpoint-sink.ts";
import { checkpointSinks } from "./checkpoint-sinks.ts";
import { databaseOptionsAt, type OpenConnection } from "./connect.ts";
import { type Keys, openKeys } from "./open-keys.ts";

export interface Installation extends OpenConnection, Keys {
  /**
   * The journal. Absent if the database is external and no journal is configured. Without a journal, nothing can be
   * erased.
   */
  readonly journal: ErasureJournal | undefined;
  /** Options of connections to the journal, if the journal is a database. */
  readonly journalDatabase: DatabaseOptions | undefined;
  /** The places outside the database that keep checkpoints of the audit log. */
  readonly checkpointSinks: readonly CheckpointSink[];
  /** The authority that signs the time of checkpoints, if one is configured. */
  /** An entry that the journal must contain, because the configured receipt names it. */
  readonly attested: KnownEntry | undefined;
}

/**
 * @throws what `openKeys` throws; an error with a journal-… code, Unavailable
 */
export async function openInstallation(connection: OpenConnection): Promise<Installation> {
  const { config, opened } = connection;
  const keys = await openKeys(connection);
  const journalDatabase = databaseOptionsAt(connection, "journal.databaseUrl", "erasure_journal");
  const journal = await openJournal(connection, journalDatabase);
  if (journal) opened.add("erasure journal", () => journal.close());
  const attested = await attestedEntry(config.journal.receiptFile, keys.receipts, keys.codec.installation);
  const sinks = checkpointSinks(connection, journal);
  return { ...connection, ...keys, journal, journalDatabase, checkpointSinks: sinks, attested };
}

/** @throws Unavailable */
export async function openJournal(
  { access, config, dependencies }: OpenConnection,
  database: DatabaseOptions | undefined,
): Promise<ErasureJournal | undefined> {
  if (database) return postgresJournal(database, access !== "change");
  const { directory } = config.journal;
  if (directory === undefined) return undefined;
  return journalWithDeadline(directoryJournal(directory), dependencies.get("erasure_journal"));
}
