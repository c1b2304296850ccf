/**
 * The parts that the server and every command share: the database (embedded or not) brought up to date, the key store
 * opened, the installation's secret checked against both.
 */
import type pg from "pg";
import { plural } from "../messages/plural.ts";
import type { Config } from "../config/config.ts";
import { boundedKeyStore } from "../crypto/bounded-key-store.ts";
import { boundedJournal } from "../journal/bounded-journal.ts";
import { Dependencies, type DependencyName } from "../dependencies/dependencies.ts";
import { EmbeddedPostgres } from "../embedded-postgres/embedded-postgres.ts";
import { findHoldSecrets } from "../lifecycle/holds/holds.ts";
import type { Clock, OnError } from "../ports.ts";
import { directoryKeyStore } from "../crypto/directory-key-store.ts";
import { type KeyEncryption, LocalKeyEncryption } from "../crypto/key-encryption.ts";
import { keyEncryptionKeys } from "../crypto/key-encryption-key.ts";
import { SearchBackoff } from "../lifecycle/holds/search-backoff.ts";
import type { RetentionOptions } from "../lifecycle/retention-worker.ts";
import type { KeyStore } from "../crypto/key-store.ts";
import { postgresKeyStore } from "../crypto/postgres-key-store.ts";
import { Pseudonymizer } from "../crypto/pseudonymizer.ts";
import { type Replayed, replayJournal } from "../lifecycle/recovery/replay-journal.ts";
import { directoryJournal } from "../journal/directory-journal.ts";
import type { KnownEntry } from "../journal/chain.ts";
import { EntryCodec } from "../journal/entry-codec.ts";
import type { ErasureJournal } from "../journal/journal.ts";
import { attestedEntry } from "../lifecycle/receipts/attested-entry.ts";
import { deriveKey } from "../crypto/derive-key.ts";
import { postgresJournal } from "../journal/postgres-journal.ts";
import { type ReceiptSigner, receiptSigner } from "../lifecycle/receipts/receipt-signer.ts";
import { type CachingSealer, createSealer } from "../crypto/sealer.ts";
import { installationId, installationSecret, requireKeys } from "../lifecycle/recovery/installation.ts";
import { Secrets } from "../crypto/secrets.ts";
import { PostgresAccountKeys } from "../accounts/account-keys.ts";
import {
  administrationOptions,
  boundTo,
  type DatabaseOptions,
  withStatementTimeout,
  openPool,
  withoutStatementTimeout,
  servingOptions,
} from "../postgres/database.ts";
import { type DatabaseIdentity, identifyDatabase } from "../postgres/database-identity.ts";
import { isMigrated, migrate } from "../postgres/migrate.ts";
import { Partitions } from "../events/partitions.ts";
import { requireSessions, requireSettings } from "../postgres/pooler.ts";
import { Closers } from "./closers.ts";
import { type Warning, warningsOf } from "../config/warnings.ts";

export interface System {
  readonly config: Config;
  readonly clock: Clock;
  readonly dependencies: Dependencies;
  /** Options of a serving connection. */
  readonly database: DatabaseOptions;
  readonly pool: pg.Pool;
  /** The database that this start has compared with the erasure journal. */
  readonly identity: DatabaseIdentity;
  /** Options of a connection as the owner, for what the serving role may not change. */
  readonly administration: DatabaseOptions;
  readonly partitions: Partitions;
  readonly sealer: CachingSealer;
  readonly keyStore: KeyStore;
  /** Options of connections to the key store and to the erasure journal, where they are databases. */
  readonly keyDatabase: DatabaseOptions | undefined;
  readonly journalDatabase: DatabaseOptions | undefined;
  readonly keyEncryption: KeyEncryption;
  readonly secrets: Secrets;
  readonly accountKeys: PostgresAccountKeys;
  readonly names: Pseudonymizer;
  /** Absent where an external database is used and none was named: then nothing can be erased. */
  readonly journal: ErasureJournal | undefined;
  readonly codec: EntryCodec;
  /** An entry that the configured receipt shows the journal to have. */
  readonly attested: KnownEntry | undefined;
  readonly receipts: ReceiptSigner;
  /** Applies what the erasure journal has and this database or key store lacks. @throws an error with a journal-… code, Unavailable */
  catchUp(): Promise<Replayed>;
  /** Where the embedded cluster lies, for a look at its disk. */
  readonly clusterDirectory: string | undefined;
  /** What this start carried out because a backup had been restored, each a line for people. */
  readonly caughtUp: readonly string[];
  /** What an operator should know of the configuration. */
  readonly warnings: readonly Warning[];
  /** Names of what is being closed, for people. */
  readonly closing: Set<string>;
  /** Never rejects. */
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly asServer: boolean;
  readonly onError: OnError;
  /** Opens without a replay, for the command that repairs the journal: nothing may be served or deleted then. */
  readonly acceptsDamagedJournal?: boolean;
  /** Opens although keys that events are sealed under are lost, for the command that lists them. */
  readonly acceptsLostKeys?: boolean;
}

export const SYSTEM_CLOCK: Clock = { now: () => Date.now() };

export async function openSystem(
  config: Config,
  { asServer, onError, acceptsDamagedJournal = false, acceptsLostKeys = false }: OpenOptions,
): Promise<System> {
  const dependencies = new Dependencies(config.DRS_DEPENDENCY_TIMEOUT);
  const closing = new Set<string>();
  await using opened = new Closers(onError, closing);
  const embedded = config.embedded
    ? await EmbeddedPostgres.open({ dataDir: config.DRS_DATA_DIR, asServer, onError })
    : undefined;
  if (embedded) opened.add("embedded PostgreSQL", () => embedded.close());

  const bound = (login: DatabaseOptions): DatabaseOptions => boundTo(dependencies.get("database"), login);
  const serving = bound(embedded?.serving ?? { connectionString: config.DRS_DATABASE_URL });
  const owner = bound(ownerOf(config, embedded));
  if (!embedded) await requireSessions(serving);
  // As the serving login first: whoever finds the schema up to date needs no owner.
  if (!(await isMigrated(servingOptions(serving)))) await migrate(owner, loginOf(serving));
  const database = servingOptions(asServer ? withStatementTimeout(serving) : withoutStatementTimeout(serving));
  if (!embedded) await requireSettings(database);
  const pool = openPool(database, { max: config.DRS_DATABASE_POOL, onError });
  opened.add("database", () => pool.end());
  const identity = await identifyDatabase(pool);

  const keyDatabase = databaseAt(config.DRS_KEY_DATABASE_URL, dependencies, "key_store");
  const keyStore = await openKeyStore(config, keyDatabase, dependencies);
  opened.add("key store", () => keyStore.close());
  const keyEncryption = new LocalKeyEncryption(await keyEncryptionKeys(config));
  const secrets = new Secrets(keyStore, keyEncryption);
  const installation = await installationSecret(pool, secrets);
  const partitions = new Partitions(pool);
  const names = new Pseudonymizer(deriveKey(installation, "ledger names"));
  const accountKeys = new PostgresAccountKeys(pool, secrets, names);
  accountKeys.onLost(() => partitions.clear());
  const requestMacKey = deriveKey(installation, "request mac");
  const holdSecrets = (holdId: string): Promise<readonly string[]> => findHoldSecrets(pool, holdId);
  const sealer = createSealer(secrets, accountKeys, partitions, holdSecrets, requestMacKey);
  const codec = new EntryCodec(deriveKey(installation, "erasure journal"), await installationId(pool));
  const receipts = await receiptSigner(secrets);
  const journalDatabase = databaseAt(config.DRS_ERASURE_JOURNAL_DATABASE_URL, dependencies, "erasure_journal");
  const journal = await openJournal(config, journalDatabase, dependencies);
  if (journal) opened.add("erasure journal", () => journal.close());
  const administration = administrationOptions(owner);
  const attested = await attestedEntry(config, receipts, codec.installation);
  const replayed = {
    executor: pool,
    database,
    administration,
    journal,
    codec,
    attested,
    keyStore,
    secrets,
    sealer,
    names,
    holdSearch: new SearchBackoff(() => performance.now()),
  };
  const caughtUp = acceptsDamagedJournal ? undefined : await replayJournal(replayed, "start");
  if (caughtUp) {
    if (!acceptsLostKeys) await requireKeys(pool, secrets, caughtUp.isDatabaseBehind);
    await accountKeys.refresh();
  }
  return {
    config,
    clock: SYSTEM_CLOCK,
    dependencies,
    database,
    pool,
    identity,
    administration,
    partitions,
    sealer,
    journal,
    codec,
    attested,
    receipts,
    keyStore,
    keyDatabase,
    journalDatabase,
    keyEncryption,
    secrets,
    accountKeys,
    names,
    catchUp: () => replayJournal(replayed, "head"),
    clusterDirectory: embedded?.directory,
    caughtUp: caughtUp ? told(caughtUp) : [],
    warnings: warningsOf(config),
    closing,
    close: opened.release(),
  };
}

function ownerOf(config: Config, embedded: EmbeddedPostgres | undefined): DatabaseOptions {
  return embedded?.owner ?? { connectionString: config.DRS_MIGRATION_DATABASE_URL ?? config.DRS_DATABASE_URL };
}

function loginOf({ user, connectionString }: DatabaseOptions): string | undefined {
  const said = connectionString === undefined ? user : decodeURIComponent(new URL(connectionString).username);
  return said === "" ? undefined : said;
}

function databaseAt(
  url: string | undefined,
  dependencies: Dependencies,
  name: DependencyName,
): DatabaseOptions | undefined {
  return url === undefined
    ? undefined
    : withStatementTimeout(boundTo(dependencies.get(name), { connectionString: url }));
}

async function openKeyStore(
  config: Config,
  database: DatabaseOptions | undefined,
  dependencies: Dependencies,
): Promise<KeyStore> {
  if (database) return postgresKeyStore(database);
  return boundedKeyStore(await directoryKeyStore(config.DRS_KEY_DIR ?? ""), dependencies.get("key_store"));
}

async function openJournal(
  { DRS_ERASURE_JOURNAL: directory }: Config,
  database: DatabaseOptions | undefined,
  dependencies: Dependencies,
): Promise<ErasureJournal | undefined> {
  if (database) return postgresJournal(database);
  if (directory === undefined) return undefined;
  return boundedJournal(directoryJournal(directory), dependencies.get("erasure_journal"));
}

/** What was done before anything is served. */
function told({ erasures, holdOrders, keyStore }: Replayed): string[] {
  const lines: string[] = [];
  if (holdOrders > 0) lines.push(`the database lacked ${plural(holdOrders, "order")} about holds: applied again`);
  if (erasures > 0) lines.push(`the database lacked ${plural(erasures, "erasure")} of the journal: applied again`);
  if (keyStore > 0)
    lines.push(`the key store lacked ${plural(keyStore, "erasure")} of the journal: secrets destroyed again`);
  return lines;
}

/** What letting go of events takes, for whoever does it. */
export function erasurePorts(system: System): Omit<RetentionOptions, "database" | "actor" | "signal"> {
  const { pool, clock, config, secrets, sealer, keyStore, names, journal, codec, receipts } = system;
  const attest = { executor: pool, signer: receipts, clock, config };
  return { clock, secrets, sealer, keyStore, names, journal, codec, attest, replayWindow: config.DRS_REPLAY_WINDOW };
}
