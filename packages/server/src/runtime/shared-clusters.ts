/** Warns about stores that are in one cluster: a backup or a restore of the cluster includes all of them. */
import { type Warning, warningsOf } from "../base/config/warnings.ts";
import { type DatabaseOptions, withClient } from "../store/postgres/database.ts";
import { query, sql } from "../store/postgres/statement.ts";
import { type OpenConnection, storeDatabases } from "./connect.ts";

const IDENTIFY_CLUSTER = sql("select system_identifier::text as cluster from pg_control_system()", [], {
  cluster: "text",
});
/** The start of the cluster, to the microsecond. Each login may read it, and some providers hide the identifier. */
const READ_START = sql("select extract(epoch from pg_postmaster_start_time())::text as cluster", [], {
  cluster: "text",
});

/** What is known of a cluster: of two equal marks, one is enough. */
type Marks = readonly (string | undefined)[];

/** @returns no marks if the database does not answer now, which other checks report. */
async function marksOf(database: DatabaseOptions | undefined): Promise<Marks> {
  if (!database) return [];
  return withClient(database, async (client) => {
    const start = (await query(client, READ_START)).rows[0]?.cluster;
    const identified = await query(client, IDENTIFY_CLUSTER).catch(() => undefined);
    return [start, identified?.rows[0]?.cluster];
  }).catch(() => []);
}

/** Finds what the configuration and the clusters of the stores warn about. */
export const findWarnings = async (
  connection: Pick<OpenConnection, "config" | "database" | "dependencies">,
): Promise<readonly Warning[]> => [
  ...warningsOf(connection.config),
  ...(await findSharedClusters({ database: connection.database, ...storeDatabases(connection) })),
];

interface Stores extends ReturnType<typeof storeDatabases> {
  readonly database: DatabaseOptions;
}

/** Compares the clusters of the events, the key store and the journal. */
export async function findSharedClusters({
  database,
  keyDatabase,
  journalDatabase,
}: Stores): Promise<readonly Warning[]> {
  if (!keyDatabase && !journalDatabase) return [];
  const [events, keys, journal] = await Promise.all([database, keyDatabase, journalDatabase].map(marksOf));
  const warnings: Warning[] = [];
  const compare = (one: Marks = [], other: Marks = [], detail: string): void => {
    if (one.some((mark, n) => mark !== undefined && mark === other[n])) warnings.push({ severity: "warning", detail });
  };
  compare(
    keys,
    events,
    "DRS_KEY_DATABASE_URL names the cluster of the events: with both in one backup, no erasure takes effect",
  );
  compare(
    journal,
    events,
    "DRS_ERASURE_JOURNAL_DATABASE_URL names the cluster of the events: a restore of the cluster loses the journal's later entries, and erased events come back",
  );
  compare(
    journal,
    keys,
    "DRS_ERASURE_JOURNAL_DATABASE_URL names the cluster of the key store: a restore of the cluster loses the journal's later entries, and destroyed keys come back",
  );
  return warnings;
}
