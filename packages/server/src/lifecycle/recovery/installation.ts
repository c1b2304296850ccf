/** Checks that the key store belongs to the database. */
import type { Executor } from "../../store/postgres/executor.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { deriveKey } from "../../store/crypto/derive-key.ts";
import { isMacOf, macOf } from "../../store/crypto/mac.ts";
import { findLostSecrets } from "./lost-secrets.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import { query, sql } from "../../store/postgres/statement.ts";

const READ_INSTALLATION = sql("select installation_id, key_check from installation", [], {
  installation_id: "uuid",
  key_check: "bytea?",
});

const SET_KEY_CHECK = sql("update installation set key_check = $1 where key_check is null", ["bytea"]);

async function readInstallation(executor: Executor): Promise<{ installation_id: string; key_check: Buffer | null }> {
  const [installation] = (await query(executor, READ_INSTALLATION)).rows;
  if (!installation) throw new Error("the database has no installation row");
  return installation;
}

export async function readInstallationId(executor: Executor): Promise<string> {
  return (await readInstallation(executor)).installation_id;
}

/**
 * Requires that the installation has secrets. Called before a key store is opened for reading only.
 * @throws installation-missing
 */
export async function requireSecrets(executor: Executor): Promise<void> {
  if (await hasSecrets(executor)) return;
  throw new OperatorError(
    "installation-missing",
    "the installation has no secrets yet: run drs migrate, or start drs serve",
  );
}

/** Whether the database was ever used with a key store. */
export async function hasSecrets(executor: Executor): Promise<boolean> {
  return (await readInstallation(executor)).key_check !== null;
}

/**
 * The secret from which the keys of the whole installation are derived (`deriveKey`). It is created if the database was
 * never used with a key store. The database has a check value of this secret, so that the server detects a key store
 * that is empty, older or of another installation before it serves.
 */
export async function installationSecret(executor: Executor, secrets: Secrets): Promise<Buffer> {
  const installation = await readInstallation(executor);
  const name = `installation/${installation.installation_id}`;
  const existing = await secrets.find(name);
  if (!existing && installation.key_check) {
    throw new OperatorError(
      "key-store-mismatch",
      "the key store has no secret of this installation: it is empty, or belongs to another database. " +
        "Restore the key store of this database, or point DRS_KEY_DIR or DRS_KEY_DATABASE_URL at it",
    );
  }
  const secret = existing ?? (await secrets.findOrCreate(name));
  const key = deriveKey(secret, "installation check");
  if (!installation.key_check) {
    await query(executor, SET_KEY_CHECK, [macOf(key, "installation check")]);
  } else if (!isMacOf(key, "installation check", installation.key_check)) {
    throw new OperatorError(
      "key-store-mismatch",
      "the key store's secret is not the one that this database was used with",
    );
  }
  return secret;
}

/**
 * Requires that no secret of the events is lost. A key store that is older than the events lacks some of their secrets.
 * @throws key-store-outdated
 */
export async function requireKeys(executor: Executor, secrets: Secrets): Promise<void> {
  if ((await findLostSecrets(executor, secrets)).length === 0) return;
  throw new OperatorError(
    "key-store-outdated",
    "the key store lacks secrets that events are sealed under: it is older than the events. " +
      "Restore its latest copy; drs doctor lists the lost secrets, drs key accept-loss accepts that they are permanently lost",
  );
}
