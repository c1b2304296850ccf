/** Ends audit secrets. An erasure ends the secrets of its account, and a retention pass destroys them later. */
import type { Executor, OwnerTransaction } from "../postgres/executor.ts";
import { query, sql } from "../postgres/statement.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { auditSecretName } from "./personal-detail.ts";
import { isUnderReview } from "./review-table.ts";

const END_SECRETS = sql("update audit_secret set ended_at = $2 where subject = $1 and ended_at is null", [
  "bytea",
  "timestamptz",
]);

/** @param subject the keyed MAC of the account. @param at the time of the erasure, in RFC 3339. */
export async function endAuditSecrets(owner: OwnerTransaction, subject: Buffer, at: string): Promise<void> {
  await query(owner, END_SECRETS, [subject, at]);
}

const LIST_EXPIRED = sql(
  `select secret_id, subject from audit_secret
    where destroyed_at is null
      -- guard(true): a reason is readable for a time after the erasure of its account
      -- fails: packages/server/src/audit/audit-secrets.test.ts › after the retention period
      and ended_at + $1::interval <= transaction_time()
    order by ended_at`,
  ["interval"],
  { secret_id: "uuid", subject: "bytea?" },
);

const RECORD_DESTROYED = sql("select record_destroyed_audit_secret($1)", ["uuid"]);

/** Destroys the audit secrets of accounts that were erased more than `retentionMs` ago. @throws Unavailable */
export async function destroyAuditSecrets(
  executor: Executor,
  signer: AuditSigner,
  { retentionMs, signal }: { readonly retentionMs: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { rows } = await query(executor, LIST_EXPIRED, [`${retentionMs} milliseconds`]);
  for (const { secret_id, subject } of rows) {
    if (signal?.aborted) return;
    // guard(false): an erasure destroys no evidence of a read that is under review
    // fails: packages/server/src/audit/audit-secrets.test.ts › while a review
    if (subject !== null && (await isUnderReview(executor, signer, subject))) continue;
    await signer.secrets.destroy(auditSecretName(secret_id));
    await query(executor, RECORD_DESTROYED, [secret_id]);
  }
}
