/** Runs orders that a restore must not undo, and which are therefore also in the erasure journal. */
import { journalPorts, type OrderParts } from "../runtime/lifecycle-ports.ts";
import { type RecoveryParts, requireReplayedStores } from "../runtime/recover.ts";
import type { AuditSigner } from "../audit/audit-signer.ts";
import { AppendWatch } from "../lifecycle/journal/append-watch.ts";
import type { HoldOrderPorts } from "../lifecycle/holds/hold-orders.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import type { OwnerTransaction } from "../store/postgres/executor.ts";
import type { Ports } from "./ports.ts";

/** What an operation uses that checks, before a change, that the database has applied the journal. */
export type RecoveredPorts = `installation.${keyof RecoveryParts}`;

/** Opens the installation for a change. @throws replay-needed if the database lacks entries of the journal. */
export async function openReplayed<Parts extends RecoveryParts>(open: () => Promise<Parts>): Promise<Parts> {
  const installation = await open();
  await requireReplayedStores(installation);
  return installation;
}

/** What an operation uses that runs such an order. */
export type OrderPorts = "administration" | RecoveredPorts | `installation.${"audit" | keyof OrderParts}`;

/**
 * Runs an order and its audit entry in one transaction.
 * @param isDryRun whether to roll the transaction back at its end. @throws order-unconfirmed if the transaction fails
 * after the order was written to the journal.
 */
export async function runJournalOrder<T>(
  ports: Ports<OrderPorts>,
  work: (owner: OwnerTransaction, audit: AuditSigner, orderPorts: () => HoldOrderPorts) => Promise<T>,
  isDryRun = false,
): Promise<T> {
  const watch = new AppendWatch();
  try {
    const installation = await openReplayed(ports.installation);
    const orderPorts = (): HoldOrderPorts => journalPorts(installation, watch);
    const endOf = (): "commit" | "rollback" => (isDryRun ? "rollback" : "commit");
    const run = (owner: OwnerTransaction): Promise<T> => work(owner, installation.audit, orderPorts);
    return await inOwnerTransaction(ports.administration, run, endOf);
  } catch (error) {
    throw watch.explain(error);
  }
}
