import type { AuditSigner } from "../audit/audit-signer.ts";
import { OperatorError } from "../errors/operator-error.ts";
import type { HoldOrderPorts } from "../lifecycle/holds/hold-orders.ts";
import type { Installation } from "../app/open-installation.ts";
import { requireRecovered } from "../app/recover.ts";
import { AppendWatch } from "../journal/append-watch.ts";
import type { OwnerTransaction } from "../postgres/executor.ts";
import { type Context, inOwnersTransaction, withInstallation } from "./context.ts";

/**
 * The ports of an order that a restore must not undo. @param watch notices what is appended to the journal. @throws
 * journal-required where no erasure journal is configured.
 */
export function journalPorts(
  { clock, codec, keyStore, pseudonymizer, secrets, journal }: Installation,
  watch?: AppendWatch,
): HoldOrderPorts {
  if (journal) return { clock, codec, keyStore, pseudonymizer, secrets, journal: watch?.watch(journal) ?? journal };
  throw new OperatorError(
    "journal-required",
    "There is no erasure journal, and without one the restore of a backup would undo this: name a directory in " +
      "DRS_ERASURE_JOURNAL, or a database in DRS_ERASURE_JOURNAL_DATABASE_URL.",
  );
}

/**
 * Runs an order and its audit entry in one transaction.
 * @throws order-unconfirmed where the transaction fails after the journal has the order.
 */
export async function withOrder<T>(
  context: Context,
  work: (owner: OwnerTransaction, audit: AuditSigner, ports: () => HoldOrderPorts) => Promise<T>,
  dryRun: boolean,
): Promise<T> {
  const watch = new AppendWatch();
  try {
    return await withInstallation(context, "change", async (installation) => {
      await requireRecovered(installation);
      const ports = (): HoldOrderPorts => journalPorts(installation, watch);
      return inOwnersTransaction(installation, (executor) => work(executor, installation.audit, ports), dryRun);
    });
  } catch (error) {
    throw watch.explain(error);
  }
}
