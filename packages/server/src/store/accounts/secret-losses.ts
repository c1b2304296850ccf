/** Losses of secrets that the owner accepted. */
import type { Executor, OwnerTransaction } from "../postgres/executor.ts";
import { instant } from "../postgres/instant.ts";
import { query, sql } from "../postgres/statement.ts";

export interface AcceptedSecretLoss {
  readonly loss: number;
  readonly accepted_at: string;
  /**
   * The number of lost secrets. The next members count the events, accounts, partitions and held copies that need these
   * secrets.
   */
  readonly secrets: number;
  readonly events: number;
  readonly accounts: number;
  readonly partitions: number;
  readonly copies: number;
}

export type SecretLoss = Omit<AcceptedSecretLoss, "loss" | "accepted_at" | "secrets"> & {
  readonly actor: string;
  readonly reason: string;
  /** Names of the lost secrets. */
  readonly names: readonly string[];
  /** Ids of the account keys whose secrets are lost. */
  readonly keys: readonly string[];
};

const RECORD_SECRET_LOSS = sql(
  `with next as materialized (select coalesce(max(loss_id), 0) + 1 as loss_id from secret_loss)
    insert into secret_loss (loss_id, accepted_by, reason, events, accounts, partitions, copies)
      select loss_id, $1, $2, $3, $4, $5, $6 from next returning loss_id`,
  ["text", "text", "int8", "int8", "int8", "int8"],
  { loss_id: "int8" },
);

const INSERT_LOST_SECRETS = sql("insert into lost_secret (name, loss_id) select unnest($1::text[]), $2", [
  "text[]",
  "int8",
]);

const MARK_KEYS_LOST = sql(
  "update account_key set lost_by = $1 where key_id = any ($2::uuid[]) and erased_by is null",
  ["int8", "uuid[]"],
);

/**
 * Records an accepted loss. The caller makes sure that no commit batch is under way. Accounts get new keys from then
 * on.
 * @returns the number of the loss.
 */
export async function recordSecretLoss(executor: OwnerTransaction, loss: SecretLoss): Promise<number> {
  const { actor, reason, names, keys, events, accounts, partitions, copies } = loss;
  const { rows } = await query(executor, RECORD_SECRET_LOSS, [actor, reason, events, accounts, partitions, copies]);
  const id = rows[0]?.loss_id ?? 0;
  await query(executor, INSERT_LOST_SECRETS, [names, id]);
  await query(executor, MARK_KEYS_LOST, [id, keys]);
  return id;
}

const ACCEPTED_SECRET_LOSSES = sql(
  `select loss_id as loss, ${instant("accepted_at")}, events, accounts, partitions, copies,
        (select count(*) from lost_secret s where s.loss_id = l.loss_id) as secrets
      from secret_loss l order by loss_id`,
  [],
  {
    loss: "int8",
    accepted_at: "text",
    events: "int8",
    accounts: "int8",
    partitions: "int8",
    copies: "int8",
    secrets: "int8",
  },
);

/** Lists accepted losses, oldest first. */
export async function listAcceptedSecretLosses(executor: Executor): Promise<readonly AcceptedSecretLoss[]> {
  const { rows } = await query(executor, ACCEPTED_SECRET_LOSSES);
  return rows;
}

const IS_ACCEPTED_LOSS = sql("select 1 from lost_secret where name = any ($1)", ["text[]"]);

/** Whether the owner accepted the loss of all secrets with these names. */
export async function isAcceptedLoss(executor: Executor, names: readonly string[]): Promise<boolean> {
  return (await query(executor, IS_ACCEPTED_LOSS, [names])).rowCount === new Set(names).size;
}
