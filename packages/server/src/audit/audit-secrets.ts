/**
 * Ends and destroys audit secrets. An erasure ends the secrets of its account, and a retention pass destroys them
 * later.
 */
import type { Pseudonymizer } from "../store/crypto/pseudonymizer.ts";
import { lockTransactionNamed } from "../store/postgres/advisory-locks.ts";
import { inTransactionOn } from "../store/postgres/database.ts";
import type { Connection, OwnerTransaction, Transaction } from "../store/postgres/executor.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import {
  type After,
  endSecrets,
  type ExpiredSecret,
  findSecrets,
  listExpired,
  recordDestroyed,
  START,
} from "./audit-secret-table.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { auditSecretName } from "./personal-detail.ts";
import { isUnderReview } from "./review-table.ts";

/**
 * Ends the secrets of an account.
 * @param subject the keyed MAC of the account. @param at the time of the erasure, in RFC 3339.
 */
export async function endAuditSecrets(
  owner: OwnerTransaction,
  pseudonymizer: Pseudonymizer,
  subject: Buffer,
  at: string,
): Promise<void> {
  const { secrets } = await findSecrets(owner, pseudonymizer.auditSecretIdsOf(subject), subject);
  const secretIds = secrets.map(({ secret_id }) => secret_id);
  await endSecrets(owner, secretIds, at);
}

/**
 * Destroys the audit secrets of accounts that were erased at least `retentionMs` ago, unless a review of an entry about
 * the account is open.
 * @throws Unavailable
 */
export async function destroyAuditSecrets(
  connection: Connection,
  signer: AuditSigner,
  { retentionMs, signal }: { readonly retentionMs: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  for (let after: After = START; ;) {
    const page = await listExpired(connection, retentionMs, after);
    const last = page.at(-1);
    if (!last) return;
    for (const secret of page) {
      if (signal?.aborted) return;
      await inTransactionOn(connection, (transaction) => destroyUnlessUnderReview(transaction, signer, secret));
    }
    after = [last.position, last.secret_id];
  }
}

async function destroyUnlessUnderReview(
  transaction: Transaction,
  signer: AuditSigner,
  { secret_id, subject }: ExpiredSecret,
): Promise<void> {
  if (subject !== null) {
    // guard(drop): no secret is destroyed while a review of its account is being opened
    await lockAuditSecrets(transaction, subject);
    // guard(false): an erasure destroys no evidence of a read that is under review
    if (await isUnderReview(transaction, signer, subject)) return;
  }
  await signer.secrets.destroy(auditSecretName(secret_id));
  await recordDestroyed(transaction, secret_id);
}

/**
 * Until the transaction ends, no other transaction destroys secrets of the account, or opens a review of an entry about
 * it.
 */
export const lockAuditSecrets = (transaction: Transaction, subject: Buffer): Promise<void> =>
  lockTransactionNamed(transaction, LOCKS.auditSecrets, subject.toString("hex"));
