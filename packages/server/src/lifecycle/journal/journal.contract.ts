import { describe, expect, it } from "vitest";
import { type ErasureJournal, type StoredText } from "./journal.ts";

/**
 * Tests that every erasure journal must pass. `make` creates a journal, and each call of `open` returns another
 * instance of it.
 */
export function journalContract(name: string, make: () => Promise<{ open: () => Promise<ErasureJournal> }>): void {
  const read = (journal: ErasureJournal, from = 1): Promise<StoredText[]> => Array.fromAsync(journal.read(from));
  const readLosses = (journal: ErasureJournal): Promise<StoredText[]> => Array.fromAsync(journal.readLosses());

  describe(name, () => {
    it("the journal returns every text from a sequence on, ascending and across gaps, also in another instance", async () => {
      const { open } = await make();
      const journal = await open();
      expect([await read(journal), await readLosses(journal)]).toEqual([[], []]);
      const sequences = [1, 2, 998, 999, 1_000, 1_001, 2_500];
      for (const sequence of sequences) await journal.append(sequence, `entry ${sequence}\n`);
      const all = sequences.map((sequence) => ({ sequence, text: `entry ${sequence}\n` }));
      expect(await read(journal)).toEqual(all);
      expect(await read(await open(), 999)).toEqual(all.slice(3));
      expect(await read(journal, 2_501)).toEqual([]);
      await journal.close();
    });

    it("the journal never replaces an entry or a loss", async () => {
      const journal = await (await make()).open();
      await journal.append(1, "one");
      await journal.appendLoss(1, "lost");
      for (const [again, code, message] of [
        [() => journal.append(1, "other"), "journal-entry-exists", /already has entry 1/],
        [() => journal.appendLoss(1, "other"), "journal-loss-exists", /the loss of entry 1 .* is accepted already/],
      ] as const) {
        await expect(again()).rejects.toMatchObject({ code });
        await expect(again()).rejects.toThrow(message);
      }
      expect([await read(journal), await readLosses(journal)]).toEqual([
        [{ sequence: 1, text: "one" }],
        [{ sequence: 1, text: "lost" }],
      ]);
      await journal.close();
    });
  });
}
