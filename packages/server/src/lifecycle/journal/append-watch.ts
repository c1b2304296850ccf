import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import { Unavailable } from "../../base/ports.ts";
import type { ErasureJournal } from "./journal.ts";

/**
 * Records whether a transaction appended an entry to the journal. The entry remains in the journal even if the
 * transaction then fails.
 */
export class AppendWatch {
  #tried: number | undefined;
  #isAppended = false;

  watch(journal: ErasureJournal): ErasureJournal {
    return {
      ...journal,
      append: async (sequence, text) => {
        this.#tried = sequence;
        await journal.append(sequence, text).catch((error: unknown) => {
          if (hasCode(error, "journal-entry-exists", "dependency-unusable")) this.#tried = undefined;
          if (!hasCode(error, "dependency-unusable")) throw error;
          const { code, detail, message } = error;
          const outcome = "The journal does not have the order, and nothing was changed.";
          throw new Unavailable(`${message}. ${outcome}`, { code, detail, cause: error });
        });
        this.#isAppended = true;
      },
    };
  }

  /** @returns `error`, or, if the transaction may have appended an entry, `order-unconfirmed` with `error` as cause. */
  explain(error: unknown): unknown {
    if (this.#tried === undefined) return error;
    return new OperatorError(
      "order-unconfirmed",
      `The database did not confirm the order, and entry ${this.#tried} of the erasure journal ` +
        `${this.#isAppended ? "holds this order" : "may hold it"}: then drs erase replay or the next retention pass applies it. ` +
        "Look before you repeat it: drs hold list, drs restriction list, drs erase list.",
      { cause: error },
    );
  }
}
