import { randomUUID } from "node:crypto";
import { addPartitionSecrets } from "../../store/events/partitions.ts";
import { addFeatureSecrets } from "../../features/feature-partitions.ts";
import { recordSecretLoss } from "../../store/accounts/secret-losses.ts";
import { renewHoldSecrets } from "../holds/renew-hold-secrets.ts";
import { findLoss, type Loss, type LossCounts } from "./lost-secrets.ts";
import { partitionSecretName } from "../../store/crypto/partition-secrets.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import type { AuditSigner } from "../../audit/audit-signer.ts";
import { type Agent, writeAudit } from "../../audit/audit.ts";
import type { OwnerTransaction } from "../../store/postgres/executor.ts";
import { releasingLocks } from "../../store/events/partition-slices.ts";
import { excludeIngestion } from "../../store/events/exclude-ingestion.ts";
import { lockHolds } from "../../store/postgres/advisory-locks.ts";

export interface SecretLossPorts {
  readonly secrets: Secrets;
  readonly audit: AuditSigner;
  /** Names of secrets that were destroyed for entries which the database lacks. These secrets are not lost. */
  readonly destroyed?: ReadonlySet<string>;
}

export interface SecretLossStatement extends Agent {
  readonly reason: string;
}

/**
 * Accepts that secrets which the key store lacks are permanently lost. After the commit, no event is sealed under the
 * old names, although servers may still have the old keys in memory: partitions and holds get new secret ids, and
 * accounts get new keys on demand.
 *
 * @returns the numbers of what was lost, or `undefined` if no event needs a secret that the key store lacks.
 * @throws Unavailable
 */
export async function acceptSecretLoss(
  executor: OwnerTransaction,
  { secrets, audit, destroyed }: SecretLossPorts,
  { reason, ...agent }: SecretLossStatement,
): Promise<LossCounts | undefined> {
  // The hold lock prevents passes from copying held events or dropping partitions during this transaction.
  await lockHolds(executor);
  const loss = await findLoss(releasingLocks(executor), secrets, destroyed);
  if (isNothing(loss)) return undefined;
  const partitions = await createPartitionSecrets(secrets, loss.partitions);
  const features = await createPartitionSecrets(secrets, loss.features);
  await renewHoldSecrets(executor, secrets, loss.holds);
  // Waits for running commit batches, whose events were sealed under the old names. In later batches, such events are
  // stale.
  await excludeIngestion(executor);
  const id = await recordSecretLoss(executor, { ...loss, ...loss.counts, actor: agent.actor, reason });
  await addPartitionSecrets(executor, loss.partitions, partitions);
  await addFeatureSecrets(executor, loss.features, features);
  const detail = { loss: id, secrets: loss.names.length, ...loss.counts };
  await writeAudit(executor, audit, { ...agent, operation: "key.accept-loss", outcome: "done", reason, detail });
  return loss.counts;
}

export const isNothing = ({ names }: Loss): boolean => names.length === 0;

/** Creates secrets, which are durable before their ids are in the database. @returns the ids. */
async function createPartitionSecrets(secrets: Secrets, lost: readonly string[]): Promise<readonly string[]> {
  const created = lost.map(() => randomUUID());
  for (const id of created) await secrets.findOrCreate(partitionSecretName(id));
  return created;
}
