/** The ports of orders, erasures and retention passes. */
import { OperatorError } from "../base/errors/operator-error.ts";
import type { AppendWatch } from "../lifecycle/journal/append-watch.ts";
import type { ErasureJournal } from "../lifecycle/journal/journal.ts";
import type { HoldOrderPorts } from "../lifecycle/holds/hold-orders.ts";
import type { RetentionOptions } from "../lifecycle/retention-worker.ts";
import type { Installation } from "./open-installation.ts";

/** The parts of an installation with which an order is recorded. The journal is absent if none is configured. */
export type OrderParts = Omit<HoldOrderPorts, "journal"> & { readonly journal: ErasureJournal | undefined };

/** @throws journal-required if no erasure journal is configured. */
export function requireJournal({ journal }: Pick<OrderParts, "journal">): ErasureJournal {
  if (journal) return journal;
  throw new OperatorError(
    "journal-required",
    "There is no erasure journal, and without one the restore of a backup would undo this: name a directory in " +
      "DRS_ERASURE_JOURNAL, or a database in DRS_ERASURE_JOURNAL_DATABASE_URL.",
  );
}

/**
 * The ports of an order that a restore must not undo. @param watch detects what is appended to the journal. @throws
 * journal-required
 */
export function journalPorts(installation: OrderParts, watch?: AppendWatch): HoldOrderPorts {
  const { clock, codec, keyStore, pseudonymizer, secrets } = installation;
  const journal = requireJournal(installation);
  return { clock, codec, keyStore, pseudonymizer, secrets, journal: watch?.watch(journal) ?? journal };
}

/** The parts of an installation with which events are deleted. */
export type ErasureParts = OrderParts &
  Pick<Installation, "audit" | "config" | "featureSealer" | "pool" | "receipts" | "sealer">;

/** The parts that a worker or a command needs to delete events. */
export function erasurePorts({
  pool: executor,
  clock,
  audit,
  config: { retention, ...config },
  secrets,
  sealer,
  featureSealer,
  keyStore,
  pseudonymizer,
  journal,
  codec,
  receipts,
}: ErasureParts): Omit<RetentionOptions, "database" | "actor" | "signal"> {
  const signer = { sign: async (receipt: object): Promise<string> => (await receipts()).sign(receipt) };
  return {
    clock,
    audit,
    secrets,
    sealer,
    featureSealer,
    keyStore,
    pseudonymizer,
    journal,
    codec,
    attest: { executor, signer, clock, backups: retention },
    replayWindow: retention.replayWindowMs,
    countRetention: retention.countsMs,
    heldDestructionDelay: retention.heldDestructionDelayMs,
    auditReasonRetention: config.audit.reasonRetentionMs,
  };
}
