/** Losses of secrets that the owner accepted. */
import type { Executor } from "../postgres/database.ts";
import { instant } from "../postgres/instant.ts";

export interface AcceptedLoss {
  readonly loss: number;
  readonly accepted_at: string;
  /** Secrets that were lost, and what could not be opened without them. */
  readonly secrets: number;
  readonly events: number;
  readonly accounts: number;
  readonly partitions: number;
  readonly copies: number;
}

export type SecretLoss = Omit<AcceptedLoss, "loss" | "accepted_at" | "secrets"> & {
  readonly actor: string;
  readonly reason: string;
  /** Names of the lost secrets. */
  readonly names: readonly string[];
  /** Ids of account keys among them. */
  readonly keys: readonly string[];
};

/**
 * Records an accepted loss, in the owner's transaction, while no commit batch is under way. Accounts get new keys from
 * then on.
 * @returns its number.
 */
export async function recordSecretLoss(executor: Executor, loss: SecretLoss): Promise<number> {
  const { actor, reason, names, keys, events, accounts, partitions, copies } = loss;
  const { rows } = await executor.query<{ loss_id: number }>(
    `insert into secret_loss (loss_id, accepted_by, reason, events, accounts, partitions, copies)
      select coalesce(max(loss_id), 0) + 1, $1, $2, $3, $4, $5, $6 from secret_loss returning loss_id`,
    [actor, reason, events, accounts, partitions, copies],
  );
  const id = rows[0]?.loss_id ?? 0;
  await executor.query("insert into lost_secret (name, loss_id) select unnest($1::text[]), $2", [names, id]);
  await executor.query("update account_key set lost_by = $1 where key_id = any ($2::uuid[]) and erased_by is null", [
    id,
    keys,
  ]);
  return id;
}

/** The first one first. */
export async function acceptedSecretLosses(executor: Executor): Promise<readonly AcceptedLoss[]> {
  const { rows } = await executor.query<AcceptedLoss>(
    `select loss_id as loss, ${instant("accepted_at")}, events, accounts, partitions, copies,
        (select count(*) from lost_secret s where s.loss_id = l.loss_id) as secrets
      from secret_loss l order by loss_id`,
  );
  return rows;
}

/** Whether the owner accepted the loss of all these secrets, by their names. */
export async function isAcceptedLoss(executor: Executor, names: readonly string[]): Promise<boolean> {
  const text = "select from lost_secret where name = any ($1)";
  return (await executor.query(text, [names])).rowCount === new Set(names).size;
}
