/** Whether the key store goes with the database. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Executor } from "../store/database.ts";
import { findPartitions, queryPartitions } from "../store/partition-slices.ts";
import { deriveKey } from "./derive-key.ts";
import { accountSecretName, holdSecretName, partitionSecretName } from "./sealer.ts";
import type { Secrets } from "./secrets.ts";

/** A key store that does not belong to the database, or lacks what the database needs. */
export class KeyStoreUnfit extends Error {
  override readonly name = "KeyStoreUnfit";
}

/**
 * The secret that keys of the whole installation are derived from (`deriveKey`). The database remembers a check value of it, so that a key store that
 * is empty, older or another installation's is noticed before anything is served.
 */
export async function installationSecret(executor: Executor, secrets: Secrets): Promise<Buffer> {
  const read = "select installation_id, key_check from installation";
  const { rows } = await executor.query<{ installation_id: string; key_check: Buffer | null }>(read);
  const installation = rows[0];
  if (!installation) throw new Error("the database has no installation row");
  const name = `installation/${installation.installation_id}`;
  const standing = await secrets.find(name);
  if (!standing && installation.key_check) {
    throw new KeyStoreUnfit(
      "the key store has no secret of this installation: it is empty, or belongs to another database. " +
        "Restore the key store that goes with this database, or point DRS_KEY_DIR or DRS_KEY_DATABASE_URL at it",
    );
  }
  const secret = standing ?? (await secrets.findOrCreate(name));
  const check = createHmac("sha256", deriveKey(secret, "installation check")).update("installation check").digest();
  if (!installation.key_check) {
    await executor.query("update installation set key_check = $1 where key_check is null", [check]);
  } else if (!timingSafeEqual(check, installation.key_check)) {
    throw new KeyStoreUnfit("the key store's secret is not the one that this database was used with");
  }
  return secret;
}

/** The newest that are looked for, of each kind. */
const LOOKED_AT = 5;
const KEYS_LOOKED_AT = 1_000;

const NEWEST_KEYS = `select key_id as id from account_key where erased_by is null
  order by created_at desc limit ${KEYS_LOOKED_AT}`;
const NEWEST_HOLDS = `select hold_id as id from legal_hold h
  where exists (select from held_event c where c.hold_id = h.hold_id) order by placed_at desc limit ${LOOKED_AT}`;

/** Of partitions that hold an event and whose secrets are needed. */
async function newestPartitions(executor: Executor): Promise<string[]> {
  const found: string[] = [];
  const needed = `p.dropped_at is null and p.lower_bound <= now()
    and coalesce(p.upper_bound + (select raw_retention from purpose where code = p.purpose), 'infinity') > now()`;
  const used = queryPartitions<{ id: string }>(
    executor,
    await findPartitions(executor),
    [],
    (within, { partition_id }) => `select partition_id as id from event_partition p
      where p.partition_id = '${partition_id}' and ${needed} and exists (select from event e where ${within("e")})`,
  );
  for await (const { id } of used) if (found.push(id) === LOOKED_AT) break;
  return found;
}

const PARTITIONS = "select partition_id as id from event_partition where dropped_at is null";

type Names = () => Promise<readonly string[]>;

function namesIn(executor: Executor, query: string, nameOf: (id: string) => string): Names {
  return async () => (await executor.query<{ id: string }>(query)).rows.map(({ id }) => nameOf(id));
}

/**
 * A key store that is older than the events lacks keys that were made since: the newest are looked for.
 *
 * @param isDatabaseBehind the key store destroyed secrets of partitions that the database still has: it may lack theirs.
 * @throws KeyStoreUnfit
 */
export async function requireKeys(executor: Executor, secrets: Secrets, isDatabaseBehind: boolean): Promise<void> {
  const partitions = async (): Promise<readonly string[]> =>
    (await newestPartitions(executor)).map(partitionSecretName);
  const needed = [
    namesIn(executor, NEWEST_KEYS, accountSecretName),
    namesIn(executor, NEWEST_HOLDS, holdSecretName),
    ...(isDatabaseBehind ? [] : [partitions]),
  ];
  for (const names of needed) {
    if ((await lostOf(secrets, names)).length === 0) continue;
    throw new KeyStoreUnfit(
      "the key store lacks keys that events are sealed under: it is older than the events. " +
        "Restore the latest backup of it; drs doctor lists what they are",
    );
  }
}

/** Names of secrets that a running server needs, and that the key store has lost. @throws Unavailable */
export async function lostSecrets(executor: Executor, secrets: Secrets): Promise<readonly string[]> {
  const partitions = async (): Promise<readonly string[]> => {
    const active = new Set(await namesIn(executor, PARTITIONS, partitionSecretName)());
    return secrets.used.filter((name) => active.has(name));
  };
  const needed = [
    namesIn(executor, NEWEST_KEYS, accountSecretName),
    namesIn(executor, NEWEST_HOLDS, holdSecretName),
    partitions,
  ];
  const lost: string[] = [];
  for (const names of needed) lost.push(...(await lostOf(secrets, names)));
  return lost;
}

async function lostOf(secrets: Secrets, names: Names): Promise<readonly string[]> {
  const lacking = await secrets.lacking(await names());
  if (lacking.length === 0) return [];
  // Erased or dropped meanwhile, it is not among them any more.
  const needed = new Set(await names());
  return lacking.filter((name) => needed.has(name));
}
