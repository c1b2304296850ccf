/** Ends audit secrets. An erasure ends the secrets of its account, and a retention pass destroys them later. */
import type { Secrets } from "../crypto/secrets.ts";
import type { Executor, OwnerTransaction } from "../postgres/executor.ts";
import { query, sql } from "../postgres/statement.ts";
import { auditSecretName } from "./personal-detail.ts";

const END_SECRETS = sql("update audit_secret set ended_at = $2 where subject = $1 and ended_at is null", [
  "bytea",
  "timestamptz",
]);

/** @param subject the keyed MAC of the account. @param at the time of the erasure, in RFC 3339. */
export async function endAuditSecrets(owner: OwnerTransaction, subject: Buffer, at: string): Promise<void> {
  await query(owner, END_SECRETS, [subject, at]);
}

const LIST_EXPIRED = sql(
  `select secret_id from audit_secret s
    where destroyed_at is null
      -- guard(true): a reason is readable for a time after the erasure of its account
      -- fails: packages/server/src/audit/audit-secrets.test.ts › after the retention period
      and ended_at + $1::interval <= transaction_time()
      -- guard(true): an erasure destroys no evidence of a read that is under review
      -- fails: packages/server/src/audit/audit-secrets.test.ts › while a review
      and not exists (select from audit_review r where r.subject = s.subject and r.closed_at is null)
    order by ended_at`,
  ["interval"],
  { secret_id: "uuid" },
);

const RECORD_DESTROYED = sql("select record_destroyed_audit_secret($1)", ["uuid"]);

/** Destroys the audit secrets of accounts that were erased more than `retentionMs` ago. @throws Unavailable */
export async function destroyAuditSecrets(
  executor: Executor,
  secrets: Secrets,
  { retentionMs, signal }: { readonly retentionMs: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { rows } = await query(executor, LIST_EXPIRED, [`${retentionMs} milliseconds`]);
  for (const { secret_id } of rows) {
    if (signal?.aborted) return;
    await secrets.destroy(auditSecretName(secret_id));
    await query(executor, RECORD_DESTROYED, [secret_id]);
  }
}
