import { randomUUID } from "node:crypto";
import { holdSecretName } from "../../store/crypto/sealer.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import type { OwnerTransaction } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";
import { addHoldSecrets, HOLD_SECRET } from "./hold-table.ts";

/**
 * Creates a secret with a new id for each of these holds. Their earlier secrets are not used again: they are destroyed
 * or lost, or another copy of the key store may have them.
 * @throws Unavailable
 */
export async function renewHoldSecrets(
  executor: OwnerTransaction,
  secrets: Secrets,
  holds: readonly string[],
): Promise<void> {
  const created = holds.map(() => randomUUID());
  // Each secret is durable before its id is in the database.
  for (const id of created) await secrets.findOrCreate(holdSecretName(id));
  await addHoldSecrets(executor, holds, created);
}

const LIST_HOLD_SECRETS = sql(
  `select hold_id as id, ${HOLD_SECRET} as secret from legal_hold
    where secret_destroyed_at is null`,
  [],
  { id: "uuid", secret: "uuid" },
);

/**
 * Creates new secrets for holds that are active in a restored database but have ended since the backup. The secrets of
 * these holds are destroyed, but a replay may have to make copies under such a hold before it moves them to another
 * hold. The next pass destroys the new secrets.
 * @param destroyed names of secrets that are destroyed for entries which the database lacks.
 * @throws Unavailable
 */
export async function renewDestroyedHolds(
  executor: OwnerTransaction,
  secrets: Secrets,
  destroyed: ReadonlySet<string>,
): Promise<void> {
  const { rows } = await query(executor, LIST_HOLD_SECRETS);
  const recorded = await secrets.findDestroyed(rows.map(({ secret }) => holdSecretName(secret)));
  const destroyedNames = new Set([
    ...destroyed,
    // guard(drop): the key store knows of a hold whose end the journal has lost
    ...recorded,
  ]);
  const ended = rows.filter(({ secret }) => destroyedNames.has(holdSecretName(secret)));
  if (ended.length > 0)
    await renewHoldSecrets(
      executor,
      secrets,
      ended.map(({ id }) => id),
    );
}
