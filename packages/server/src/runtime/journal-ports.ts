import { OperatorError } from "../base/errors/operator-error.ts";
import type { AppendWatch } from "../lifecycle/journal/append-watch.ts";
import type { HoldOrderPorts } from "../lifecycle/holds/hold-orders.ts";
import type { Installation } from "./open-installation.ts";

/**
 * The ports of an order that a restore must not undo. @param watch detects what is appended to the journal. @throws
 * journal-required if no erasure journal is configured.
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
