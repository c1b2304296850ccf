import { type ErasureJournal, JournalUnfit } from "./journal.ts";

/** An order that the journal has, or may have, and whose transaction failed. */
export class UnconfirmedOrder extends Error {
  override readonly name = "UnconfirmedOrder";

  constructor(sequence: number, isAppended: boolean, cause: unknown) {
    super(
      `The database did not confirm the order, and entry ${sequence} of the erasure journal ` +
        `${isAppended ? "holds this order" : "may hold it"}: then the next drs command or retention pass applies it. ` +
        "Look before you repeat it: drs hold list, drs erase list.",
      { cause },
    );
  }
}

/** Notices what is appended to a journal while a transaction is under way, which may fail after that. */
export class AppendWatch {
  #tried: number | undefined;
  #isAppended = false;

  watch(journal: ErasureJournal): ErasureJournal {
    return {
      ...journal,
      append: async (sequence, text) => {
        this.#tried = sequence;
        await journal.append(sequence, text).catch((error: unknown) => {
          if (error instanceof JournalUnfit) this.#tried = undefined;
          throw error;
        });
        this.#isAppended = true;
      },
    };
  }

  /** @returns the error of the transaction, or an `UnconfirmedOrder` with it as its cause. */
  explain(error: unknown): unknown {
    return this.#tried === undefined ? error : new UnconfirmedOrder(this.#tried, this.#isAppended, error);
  }
}
