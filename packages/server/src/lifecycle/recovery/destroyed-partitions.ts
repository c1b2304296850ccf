/**
 * Destroys secrets again that a key store has because it was restored from an older copy: secrets of partitions that
 * were dropped since that copy, and audit secrets of accounts that were erased since.
 */
import { auditSecretName } from "../../audit/personal-detail.ts";
import { partitionSecretName } from "../../store/crypto/partition-secrets.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";

/**
 * Number of the latest destructions that a running server checks. They are enough to notice that the key store was
 * restored from a copy: a copy that lacks the record of any destruction also lacks the records of all later ones. The
 * server then checks all destructions.
 */
const LATEST = 20;

const LIST_DESTROYED_SECRETS = sql(
  `select id, "isAudit" from (
      select unnest(partition_id || later_secrets) as id, false as "isAudit", secret_destroyed_at as at from event_partition
      union all
      select unnest(partition_id || later_secrets), false, secret_destroyed_at from feature_partition
      union all
      select secret_id, true, destroyed_at from audit_secret) every
    where at is not null order by at desc limit $1`,
  ["int8?"],
  { id: "uuid", isAudit: "bool" },
);

/**
 * Finds destroyed secrets that a restored key store still has, or does not record as destroyed.
 * @param which the latest destructions, or all.
 * @returns their names. @throws Unavailable
 */
export async function findUndestroyed(
  executor: Executor,
  secrets: Secrets,
  which: "latest" | "all",
): Promise<readonly string[]> {
  const { rows } = await query(executor, LIST_DESTROYED_SECRETS, [which === "latest" ? LATEST : null]);
  return undestroyedOf(
    secrets,
    rows.map(({ id, isAudit }) => (isAudit ? auditSecretName(id) : partitionSecretName(id))),
  );
}

/**
 * @returns those of `names` whose secret is still in the key store, or for which the key store has no destruction record.
 * @throws Unavailable
 */
export async function undestroyedOf(secrets: Secrets, names: readonly string[]): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const missing = new Set(await secrets.findMissing(names));
  const recorded = new Set(await secrets.findDestroyed(names));
  return names.filter((name) => !missing.has(name) || !recorded.has(name));
}

/** Destroys all secrets that `findUndestroyed` finds, and records their destruction. @throws Unavailable */
export async function destroyRestoredSecrets(executor: Executor, secrets: Secrets): Promise<void> {
  for (const name of await findUndestroyed(executor, secrets, "all")) await secrets.destroy(name);
}
