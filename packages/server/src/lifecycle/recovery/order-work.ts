import { OperatorError } from "../../base/errors/operator-error.ts";
import type { Work } from "../../base/work.ts";
import type { DatabaseOptions } from "../../store/postgres/database.ts";
import { type ComparisonPorts, requireReplayed } from "./compare-with-journal.ts";

/**
 * Orders of the erasure journal that the database lacks, as one piece of work. A journal that can't be read is what they
 * wait for.
 */
export async function listOrderWork(
  ports: ComparisonPorts & { readonly database: DatabaseOptions },
): Promise<readonly Work[]> {
  try {
    await requireReplayed(ports, "head");
    return [];
  } catch (error) {
    // guard(throw): the list is shown although the journal can't be read
    if (!(error instanceof OperatorError)) throw error;
    const unknown = { id: null, done: null, of: null, started_at: null, started_by: null };
    return [{ kind: "order", state: "waiting", unit: "entries of the journal", ...unknown, waits_for: error.message }];
  }
}
