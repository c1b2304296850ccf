/**
 * The key store, checked against the database, and what is derived from the installation secret: names, MACs, and the
 * sealer.
 */
import { PostgresAccountKeys } from "../store/accounts/account-keys.ts";
import { ApprovalSigner } from "../access/approvals/approval-signer.ts";
import { Approvals } from "../access/approvals/approvals.ts";
import { AuditSigner } from "../audit/audit-signer.ts";
import { readSurfaceKeys } from "../audit/surface-key-file.ts";
import type { Config } from "../base/config/config.ts";
import { boundedKeyStore } from "../store/crypto/bounded-key-store.ts";
import { deriveKey } from "../store/crypto/derive-key.ts";
import { RowSigner } from "../store/crypto/row-signer.ts";
import { directoryKeyStore } from "../store/crypto/directory-key-store.ts";
import { type KeyEncryption, LocalKeyEncryption } from "../store/crypto/key-encryption.ts";
import { openKeySource } from "../store/crypto/key-source.ts";
import { KEY_STORE_WATERMARKS, type KeyStore } from "../store/crypto/key-store.ts";
import { postgresKeyStore } from "../store/crypto/postgres-key-store.ts";
import { createFeatureSealer, type FeatureSealer } from "../store/crypto/feature-sealer.ts";
import { Pseudonymizer } from "../store/crypto/pseudonymizer.ts";
import { type CachingSealer, createSealer } from "../store/crypto/sealer.ts";
import { Secrets } from "../store/crypto/secrets.ts";
import { DriftDecisions } from "../ingest/drift/drift-decisions.ts";
import { type Bounded, boundedBy } from "../base/dependencies/file-calls.ts";
import { FEATURE_VALUES, Partitions } from "../store/events/partitions.ts";
import { EntryCodec } from "../lifecycle/journal/entry-codec.ts";
import { AdminSessions } from "../access/identity/admin-sessions.ts";
import { findHoldSecrets } from "../lifecycle/holds/hold-table.ts";
import { findReceiptSigner, type ReceiptSigner, receiptSigner } from "../lifecycle/receipts/receipt-signer.ts";
import { readInstallationId, installationSecret, requireSecrets } from "../lifecycle/recovery/installation.ts";
import type { DatabaseOptions } from "../store/postgres/database.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { type Access, type OpenConnection, storeDatabases } from "./connect.ts";
import { requireOwnKeys } from "./require-one-installation.ts";

export interface Keys {
  readonly keyStore: KeyStore;
  readonly keyEncryption: KeyEncryption;
  readonly secrets: Secrets;
  readonly partitions: Partitions;
  readonly accountKeys: PostgresAccountKeys;
  readonly pseudonymizer: Pseudonymizer;
  readonly audit: AuditSigner;
  readonly adminSessions: AdminSessions;
  readonly approvals: Approvals;
  readonly driftDecisions: DriftDecisions;
  readonly sealer: CachingSealer;
  readonly featurePartitions: Partitions;
  readonly featureSealer: FeatureSealer;
  readonly codec: EntryCodec;
  /**
   * The signer of receipts. @throws installation-missing if the installation has no receipt key yet, and this access
   * must not create one. @throws Unavailable
   */
  readonly receipts: () => Promise<ReceiptSigner>;
}

/**
 * Opens the key store. Missing secrets of the installation are created only with the access `change`. @throws
 * installation-missing, key-file-unusable, key-source-unusable, key-store-mismatch, stores-mixed, Unavailable
 */
export async function openKeys(connection: OpenConnection): Promise<Keys> {
  const { access, clock, config, environment, dependencies, opened, pool } = connection;
  const creates = access === "change";
  if (!creates) await requireSecrets(pool);
  const bounded = boundedBy(dependencies.get("key_store"));
  const keyStore = await openKeyStore(config, storeDatabases(connection).keyDatabase, bounded, access);
  opened.add("key store", () => keyStore.close());
  const id = await readInstallationId(pool);
  await requireOwnKeys(config, keyStore, id);
  const keyEncryption = new LocalKeyEncryption(
    await openKeySource({ config, environment, dependencies, bounded, creates }),
  );
  const secrets = new Secrets(keyStore, keyEncryption);
  const installation = await installationSecret(pool, secrets);
  if (creates) await nameInstallation(keyStore, id);
  const { keyFile } = config.audit;
  const surfaceKeys = keyFile === undefined ? undefined : await bounded(() => readSurfaceKeys(keyFile));
  const partitions = new Partitions(pool);
  const featurePartitions = new Partitions(pool, FEATURE_VALUES);
  const pseudonymizer = new Pseudonymizer(deriveKey(installation, "ledger names"));
  const accountKeys = new PostgresAccountKeys(pool, secrets, pseudonymizer);
  const holdSecrets = (holdId: string): Promise<readonly string[]> => findHoldSecrets(pool, holdId);
  const featureSealer = createFeatureSealer(secrets, featurePartitions, holdSecrets);
  accountKeys.onSecretsLost(() => {
    partitions.clear();
    featurePartitions.clear();
    featureSealer.forgetKeys();
  });
  return {
    keyStore,
    keyEncryption,
    secrets,
    partitions,
    accountKeys,
    pseudonymizer,
    audit: new AuditSigner(installation, pseudonymizer, secrets, clock, surfaceKeys),
    adminSessions: new AdminSessions(new RowSigner(deriveKey(installation, "admin sessions"))),
    approvals: new Approvals(new ApprovalSigner(new RowSigner(deriveKey(installation, "approvals")))),
    driftDecisions: new DriftDecisions(new RowSigner(deriveKey(installation, "drift decisions"))),
    sealer: createSealer(secrets, accountKeys, partitions, holdSecrets, deriveKey(installation, "request mac")),
    featurePartitions,
    featureSealer,
    codec: new EntryCodec(deriveKey(installation, "erasure journal"), id),
    receipts: () => openReceipts(secrets, access),
  };
}

/** Writes into the key store to which installation it belongs. */
async function nameInstallation(keyStore: KeyStore, id: string): Promise<void> {
  const name = KEY_STORE_WATERMARKS.installation;
  if ((await keyStore.readWatermark(name)) === undefined) await keyStore.writeWatermark(name, id);
}

async function openKeyStore(
  config: Config,
  database: DatabaseOptions | undefined,
  bounded: Bounded,
  access: Access,
): Promise<KeyStore> {
  // Only a plain read opens the key database read-only. An audited read creates a secret in it if the account has no
  // audit secret yet.
  if (database) return postgresKeyStore(database, access === "read");
  return boundedKeyStore(
    await bounded(() => directoryKeyStore(config.keys.directory ?? "", access === "change")),
    bounded,
  );
}

async function openReceipts(secrets: Secrets, access: Access): Promise<ReceiptSigner> {
  if (access === "change") return receiptSigner(secrets);
  const signer = await findReceiptSigner(secrets);
  if (signer) return signer;
  throw new OperatorError(
    "installation-missing",
    "the installation has no key that signs receipts yet: run drs migrate, or start drs serve",
  );
}
