import type { HoldOrderPorts } from "../lifecycle/holds/hold-orders.ts";
import type { System } from "../app/system.ts";
import { Failure } from "./context.ts";

/** What an order needs that a restore must not undo. @throws Failure where no erasure journal is configured. */
export function journalPorts({ clock, codec, keyStore, names, journal }: System): HoldOrderPorts {
  if (journal) return { clock, codec, keyStore, names, journal };
  throw new Failure(
    "There is no erasure journal, and without one the restore of a backup would undo this: name a directory in " +
      "DRS_ERASURE_JOURNAL, or a database in DRS_ERASURE_JOURNAL_DATABASE_URL.",
  );
}
