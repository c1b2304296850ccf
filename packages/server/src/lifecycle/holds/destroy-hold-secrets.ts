import { randomUUID } from "node:crypto";
import { holdSecretName } from "../../store/crypto/sealer.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import { inTransactionOn } from "../../store/postgres/database.ts";
import type { Connection, Executor, Transaction } from "../../store/postgres/executor.ts";
import { appendEntry, type AppendEntryPorts } from "../journal/append-entry.ts";
import type { ErasureEntry } from "../journal/journal.ts";
import { lockJournal } from "../../store/postgres/advisory-locks.ts";
import { query, sql } from "../../store/postgres/statement.ts";

export interface HoldEndPorts extends Omit<AppendEntryPorts, "journal"> {
  readonly secrets: Secrets;
  readonly journal: AppendEntryPorts["journal"] | undefined;
}

const ENDED_HOLDS = `select hold_id, (hold_id || later_secrets)::text[] as secrets from legal_hold h
    where lifted_at is not null and secret_destroyed_at is null
      and not exists (select 1 from held_event c where c.hold_id = h.hold_id)`;
const ENDED_HOLD_TYPES = { hold_id: "uuid", secrets: "text[]" } as const;
const LIST_ENDED_HOLDS = sql(ENDED_HOLDS, [], ENDED_HOLD_TYPES);
const FIND_ENDED_HOLD = sql(`${ENDED_HOLDS} and hold_id = $1`, ["uuid"], ENDED_HOLD_TYPES);

const RECORD_DESTROYED_HOLD_SECRET = sql("select record_destroyed_hold_secret($1)", ["uuid"]);

const RECORD_SECRET_TO_DESTROY = sql("select record_secret_to_destroy($1)", ["uuid"]);

/**
 * Destroys the secrets of lifted holds that no copy needs any more. Records this in the journal, if there is one, and
 * in the database.
 */
export async function destroyHoldSecrets(
  connection: Connection,
  { secrets, journal, ...ports }: HoldEndPorts,
): Promise<void> {
  const { rows } = await query(connection, LIST_ENDED_HOLDS);
  for (const { hold_id, secrets: ids } of rows) {
    // The destruction comes first. If the process is killed before it is recorded, the next pass repeats it.
    await destroyForReceipt(connection, secrets, hold_id, ids.map(holdSecretName));
    await inTransactionOn(connection, async (transaction) => {
      if (journal) await recordEndedHold(transaction, { ...ports, journal }, hold_id, ids);
      else await query(transaction, RECORD_DESTROYED_HOLD_SECRET, [hold_id]);
    });
  }
}

/**
 * Destroys the secrets of a partition or a hold. The database first records what is about to be destroyed, so that the
 * receipt of a later pass names it even if this process is killed before it records the destruction.
 * @param ownerId the id of the partition or hold to which the secrets belong.
 */
export async function destroyForReceipt(
  executor: Executor,
  secrets: Secrets,
  ownerId: string,
  names: readonly string[],
): Promise<void> {
  const missingNames = await secrets.findMissing(names);
  // guard(drop): a secret that a killed pass destroyed is in a receipt
  if (missingNames.length < names.length) await query(executor, RECORD_SECRET_TO_DESTROY, [ownerId]);
  await destroySecrets(secrets, names);
}

export async function destroySecrets(secrets: Secrets, names: readonly string[]): Promise<void> {
  // guard(drop): a secret of a hold is destroyed before that is recorded
  // guard(drop): the secret is destroyed with the partition
  for (const name of names) await secrets.destroy(name);
}

const RECORD_ENDED_HOLD = sql("select record_ended_hold($1, $2, decode($3, 'hex'), $4, $5)", [
  "int8",
  "uuid",
  "text",
  "timestamptz",
  "uuid",
]);

/**
 * Appends the end of a hold to the journal, so that a replay destroys its secrets again in a restored key store.
 * @param secretIds the ids of the secrets of the hold. The first one is the id of the hold.
 */
async function recordEndedHold(
  executor: Transaction,
  ports: AppendEntryPorts,
  holdId: string,
  secretIds: readonly string[],
): Promise<void> {
  // Other steps of a pass soon stop waiting for a lock. This step waits without limit, because the database must apply
  // an entry that is in the journal.
  await executor.query("set local lock_timeout = 0");
  await lockJournal(executor);
  // guard(false): the end of a hold that a replay has recorded meanwhile gets no second entry
  if ((await query(executor, FIND_ENDED_HOLD, [holdId])).rowCount === 0) return;
  const { entry, digest } = await appendEntry<ErasureEntry>(executor, ports, {
    kind: "hold",
    erasure_id: randomUUID(),
    subject: null,
    keys: [],
    accounts: [],
    events: [],
    holds: secretIds,
    refused: [],
  });
  await query(executor, RECORD_ENDED_HOLD, [entry.sequence, entry.erasure_id, digest, entry.at, holdId]);
}
