/** Ends audit secrets. An erasure ends the secrets of its account, and a retention pass destroys them later. */
import { lockTransactionNamed } from "../postgres/advisory-locks.ts";
import { inTransactionOn } from "../postgres/database.ts";
import type { Connection, OwnerTransaction, Transaction } from "../postgres/executor.ts";
import { LOCKS } from "../postgres/locks.ts";
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
  connection: Connection,
  signer: AuditSigner,
  { retentionMs, signal }: { readonly retentionMs: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { rows } = await query(connection, LIST_EXPIRED, [`${retentionMs} milliseconds`]);
  for (const { secret_id, subject } of rows) {
    if (signal?.aborted) return;
    await inTransactionOn(connection, async (transaction) => {
      if (subject !== null) {
        // guard(drop): no secret is destroyed while a review of its account is being opened
        // fails: packages/server/src/audit/audit-secrets.test.ts › at the same time as the destruction
        await lockAuditSecrets(transaction, subject);
        // guard(false): an erasure destroys no evidence of a read that is under review
        // fails: packages/server/src/audit/audit-secrets.test.ts › while a review
        if (await isUnderReview(transaction, signer, subject)) return;
      }
      await signer.secrets.destroy(auditSecretName(secret_id));
      await query(transaction, RECORD_DESTROYED, [secret_id]);
    });
  }
}

/** Until the end of the transaction, no other one destroys secrets of the account or opens a review of it. */
export const lockAuditSecrets = (transaction: Transaction, subject: Buffer): Promise<void> =>
  lockTransactionNamed(transaction, LOCKS.auditSecrets, subject.toString("hex"));
