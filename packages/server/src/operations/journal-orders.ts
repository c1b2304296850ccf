/** Runs orders that a restore must not undo, and which are therefore also in the erasure journal. */
import { journalPorts } from "../runtime/journal-ports.ts";
import { requireRecovered } from "../runtime/recover.ts";
import type { AuditSigner } from "../audit/audit-signer.ts";
import { AppendWatch } from "../lifecycle/journal/append-watch.ts";
import type { HoldOrderPorts } from "../lifecycle/holds/hold-orders.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import type { OwnerTransaction } from "../store/postgres/executor.ts";
import type { AdminPorts } from "./ports.ts";

/**
 * Runs an order and its audit entry in one transaction.
 * @param isDryRun whether to roll the transaction back at its end. @throws order-unconfirmed if the transaction fails
 * after the order was written to the journal.
 */
export async function runJournalOrder<T>(
  { installation: open, administration }: AdminPorts,
  work: (owner: OwnerTransaction, audit: AuditSigner, orderPorts: () => HoldOrderPorts) => Promise<T>,
  isDryRun = false,
): Promise<T> {
  const watch = new AppendWatch();
  try {
    const installation = await open();
    await requireRecovered(installation);
    const orderPorts = (): HoldOrderPorts => journalPorts(installation, watch);
    const endOf = (): "commit" | "rollback" => (isDryRun ? "rollback" : "commit");
    return await inOwnerTransaction(administration, (owner) => work(owner, installation.audit, orderPorts), endOf);
  } catch (error) {
    throw watch.explain(error);
  }
}
