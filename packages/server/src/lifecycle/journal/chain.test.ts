import { createSecretKey, randomBytes, randomInt, randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasCode, hasCodeOfArea } from "../../base/errors/operator-error.ts";
import { compareEntries, type KnownEntry, readChain } from "./chain.ts";
import { EntryCodec } from "./entry-codec.ts";
import { digestOf, type JournalEntry, NO_ENTRY } from "./journal.ts";
import { memoryJournal, type MemoryJournal } from "./memory-journal.fixture.ts";

const KEY = createSecretKey(randomBytes(32));
const INSTALLATION = randomUUID();
const codec = new EntryCodec(KEY, INSTALLATION);

function orderOf(sequence: number, previous: string): JournalEntry {
  const base = {
    version: 1,
    sequence,
    installation: INSTALLATION,
    at: new Date(sequence).toISOString(),
    previous,
  } as const;
  const mac = randomBytes(16).toString("hex");
  if (sequence % 5 === 0) return { ...base, kind: "hold-lifted", hold_id: randomUUID() };
  if (sequence % 5 === 1) {
    const subject = { of: "account", mac } as const;
    return { ...base, kind: "hold-placed", hold_id: randomUUID(), subject, review_on: "2027-01-31" };
  }
  const restriction_id = randomUUID();
  if (sequence % 5 === 2) {
    const rest = { purpose: "fraud", article: 21, request_id: null } as const;
    return { ...base, kind: "restriction-placed", restriction_id, account: mac, ...rest };
  }
  if (sequence % 5 === 3) return { ...base, kind: "restriction-lifted", restriction_id, informed_on: "2027-01-31" };
  const lists = {
    keys: [randomUUID()],
    accounts: [],
    events: [],
    holds: [],
    refused: [],
    restrictions: [randomUUID()],
  };
  return { ...base, kind: "account", erasure_id: randomUUID(), subject: null, ...lists };
}

interface Written extends MemoryJournal {
  readonly head: KnownEntry;
}

/** Makes a journal of `length` entries, and the key store's reference to the latest one. */
function journalOf(length: number): Written {
  const inMemory = memoryJournal();
  let digest = NO_ENTRY;
  for (let sequence = 1; sequence <= length; sequence++) {
    const text = codec.encode(orderOf(sequence, digest));
    inMemory.entries.set(sequence, text);
    digest = digestOf(text);
  }
  return { ...inMemory, head: { sequence: length, digest, knownBy: "the key store" } };
}

const acceptLoss = ({ losses }: MemoryJournal, sequence: number, digest: string | null): void =>
  void losses.set(
    sequence,
    codec.encode({
      version: 1,
      kind: "loss",
      sequence,
      installation: INSTALLATION,
      at: "2026-01-01T00:00:00Z",
      digest,
    }),
  );

/** Reads the chain, and returns the sequence that the error names; `undefined` if there is no error. */
const damageOf = (written: Written): Promise<number | undefined> =>
  readChain(written.journal, codec, [written.head]).then(
    () => undefined,
    (error: unknown) => {
      if (hasCode(error, "journal-damaged")) return error.detail.sequence;
      // A damaged installation id makes the entry look like that of another installation.
      if (hasCodeOfArea(error, "journal")) return Number(/entry (\d+) /.exec(error.message)?.[1]);
      throw error;
    },
  );

/**
 * Each function damages the entry `at`, some with the help of the entry `other`, and returns the sequence of the first
 * damaged entry.
 */
const DAMAGES: Readonly<Record<string, (entries: Map<number, string>, at: number, other: number) => number>> = {
  removed: (entries, at) => {
    entries.delete(at);
    return at;
  },
  "cut in the middle": (entries, at) => {
    const text = entries.get(at) ?? "";
    entries.set(at, text.slice(0, text.length / 2));
    return at;
  },
  emptied: (entries, at) => {
    entries.set(at, "");
    return at;
  },
  "swapped with another": (entries, at, other) => {
    const [one = "", two = ""] = [entries.get(at), entries.get(other)];
    entries.set(at, two).set(other, one);
    return Math.min(at, other);
  },
  "overwritten by another": (entries, at, other) => {
    entries.set(at, entries.get(other) ?? "");
    return at;
  },
  "changed in one character": (entries, at) => {
    const text = entries.get(at) ?? "";
    const place = randomInt(text.length);
    entries.set(at, `${text.slice(0, place)}${text[place] === "0" ? "1" : "0"}${text.slice(place + 1)}`);
    return at;
  },
  "replaced by a signed one that follows from another entry": (entries, at) => {
    entries.set(at, codec.encode(orderOf(at, digestOf("another"))));
    return at;
  },
  "removed with all later entries": (entries, at) => {
    for (const sequence of entries.keys()) if (sequence >= at) entries.delete(sequence);
    return at;
  },
};

describe("the chain of the journal", () => {
  test("returns every entry, or the entries after a verified one", async () => {
    const { journal, entries, head } = journalOf(7);
    const links = await readChain(journal, codec, [head]);
    expect(links.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const after = { sequence: 5, digest: digestOf(entries.get(5) ?? "") };
    expect((await readChain(journal, codec, [head], after)).map(({ sequence }) => sequence)).toEqual([6, 7]);
  });

  test("continues after an entry only if the journal has it, or its loss was accepted", async () => {
    const { journal, entries, losses, head } = journalOf(5);
    const text = entries.get(3) ?? "";
    const after = { sequence: 3, digest: digestOf(text) };
    const readAfter = (): ReturnType<typeof readChain> => readChain(journal, codec, [], after);
    entries.set(3, codec.encode(orderOf(3, digestOf("another history"))));
    await expect(readAfter()).rejects.toMatchObject({ code: "journal-mismatch" });
    entries.set(3, text.replace("version", "versiom"));
    await expect(readAfter()).rejects.toThrow("entry 3 of the erasure journal was changed");
    entries.set(3, codec.encode({ ...orderOf(3, NO_ENTRY), installation: randomUUID() }));
    await expect(readAfter()).rejects.toMatchObject({ code: "journal-foreign" });
    entries.delete(3);
    await expect(readAfter()).rejects.toThrow(/entry 3 .* is missing/);
    acceptLoss({ journal, entries, losses }, 3, after.digest);
    expect(await readChain(journal, codec, [head], after)).toHaveLength(2);
    losses.clear();
    entries.clear();
    await expect(readAfter()).rejects.toThrow(/entry 3 .* is missing/);
  });

  test.each(Object.keys(DAMAGES))("names an entry that is %s", async (name) => {
    const damage = DAMAGES[name];
    const places = fc.integer({ min: 2, max: 12 }).chain((length) =>
      fc.record({
        length: fc.constant(length),
        at: fc.integer({ min: 1, max: length }),
        distance: fc.integer({ min: 1, max: length - 1 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(places, async ({ length, at, distance }) => {
        const written = journalOf(length);
        const first = damage?.(written.entries, at, 1 + ((at - 1 + distance) % length));
        expect(await damageOf(written)).toBe(first);
      }),
    );
  });

  test("is damaged if a copy of its last entry follows", async () => {
    const written = journalOf(3);
    written.entries.set(4, written.entries.get(3) ?? "");
    expect(await damageOf(written)).toBe(4);
  });

  test("reports an entry that another key signed as damaged, and an entry of another installation as foreign", async () => {
    const { journal, entries } = journalOf(2);
    const forged = new EntryCodec(createSecretKey(randomBytes(32)), INSTALLATION);
    entries.set(2, forged.encode(orderOf(2, digestOf(entries.get(1) ?? ""))));
    await expect(readChain(journal, codec)).rejects.toThrow("entry 2 of the erasure journal was changed");
    const foreign = new EntryCodec(KEY, randomUUID());
    await expect(readChain(journal, foreign)).rejects.toThrow(/another installation/);
  });

  test("is rejected if another store knows a different entry by the same number", async () => {
    const { journal } = journalOf(3);
    const other = { sequence: 2, digest: digestOf("another history"), knownBy: "the database" };
    await expect(readChain(journal, codec, [other])).rejects.toThrow(
      "entry 2 of the erasure journal is not the one that the database knows",
    );
  });
});

describe("an accepted loss of an entry", () => {
  test("replaces the entry in the chain, with the digest that the next entry contains", async () => {
    const written = journalOf(5);
    const digest = digestOf(written.entries.get(3) ?? "");
    written.entries.delete(3);
    acceptLoss(written, 3, digest);
    const links = await readChain(written.journal, codec, [written.head]);
    expect(links.map(({ entry }) => entry === undefined)).toEqual([false, false, true, false, false]);
    expect(links[2]?.digest).toBe(digest);
  });

  test("may be one of several, even of the last entries, and without a known digest", async () => {
    const written = journalOf(6);
    for (const sequence of [2, 3, 6]) {
      written.entries.delete(sequence);
      acceptLoss(written, sequence, null);
    }
    const head: KnownEntry = { sequence: 6, knownBy: "the key store" };
    expect(await readChain(written.journal, codec, [head])).toHaveLength(6);
  });

  test("does not allow another entry in place of the next one", async () => {
    const written = journalOf(4);
    written.entries.delete(3);
    acceptLoss(written, 3, null);
    written.entries.set(4, written.entries.get(2) ?? "");
    expect(await damageOf({ ...written, head: { sequence: 4, knownBy: "the key store" } })).toBe(4);
  });

  test("is ignored if the journal has the entry again", async () => {
    const written = journalOf(5);
    acceptLoss(written, 2, digestOf(written.entries.get(2) ?? ""));
    acceptLoss(written, 4, null);
    const links = await readChain(written.journal, codec, [written.head]);
    expect(links.map(({ entry }) => entry?.sequence)).toEqual([1, 2, 3, 4, 5]);
  });

  test("does not disturb a replay, which applies each whole entry once, even one found after its loss was recorded", async () => {
    const STATES = ["whole", "lost", "found", "damaged", "swapped"] as const;
    const chains = fc.array(fc.constantFrom(...STATES), { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(chains, fc.nat(12), async (states, restoredAt) => {
        const written = journalOf(states.length);
        const original = new Map(written.entries);
        const head: KnownEntry = { sequence: states.length, knownBy: "the key store" };
        const applied = new Map<number, "entry" | "loss">();
        const applyCounts = new Map<number, number>();
        const replay = async (): Promise<void> => {
          const unapplied = [...applied].filter(([, as]) => as === "loss").map(([sequence]) => sequence);
          const latest = Math.max(0, ...applied.keys());
          const links = await readChain(written.journal, codec, [head]);
          const { found, missing } = compareEntries(links, latest, new Set(unapplied));
          for (const { sequence, entry } of [...found, ...missing]) {
            applied.set(sequence, entry ? "entry" : "loss");
            if (entry) applyCounts.set(sequence, (applyCounts.get(sequence) ?? 0) + 1);
          }
        };
        for (let sequence = 1; sequence <= restoredAt && sequence <= states.length; sequence++) {
          applied.set(sequence, "entry");
          applyCounts.set(sequence, 1);
        }
        for (const [index, state] of states.entries()) {
          const sequence = index + 1;
          if (state === "whole") continue;
          acceptLoss(written, sequence, sequence % 2 === 0 ? digestOf(original.get(sequence) ?? "") : null);
          if (state === "damaged") written.entries.set(sequence, "{");
          else if (state === "swapped")
            written.entries.set(sequence, original.get((sequence % states.length) + 1) ?? "");
          else written.entries.delete(sequence);
        }
        await replay();
        for (const [index, state] of states.entries()) {
          if (state === "found") written.entries.set(index + 1, original.get(index + 1) ?? "");
        }
        await replay();
        await replay();
        const isKnown = (sequence: number): boolean =>
          sequence <= restoredAt || ["whole", "found"].includes(states[sequence - 1] ?? "");
        const sequences = [...original.keys()];
        expect(sequences.map((sequence) => applyCounts.get(sequence) ?? 0)).toEqual(
          sequences.map((sequence) => Number(isKnown(sequence))),
        );
      }),
      { numRuns: 40 },
    );
  });

  test("with an unknown digest agrees with any digest that a store knows", async () => {
    const written = journalOf(3);
    const known: KnownEntry = { sequence: 2, digest: digestOf(written.entries.get(2) ?? ""), knownBy: "the database" };
    written.entries.delete(2);
    acceptLoss(written, 2, null);
    expect(await readChain(written.journal, codec, [known, written.head])).toHaveLength(3);
  });

  test("excuses no other entry", async () => {
    const written = journalOf(6);
    written.entries.delete(2);
    written.entries.delete(5);
    acceptLoss(written, 2, null);
    expect(await damageOf(written)).toBe(5);
  });

  test("is invalid if another key signed it", async () => {
    const written = journalOf(3);
    written.entries.delete(2);
    const forged = new EntryCodec(createSecretKey(randomBytes(32)), INSTALLATION);
    acceptLoss(written, 2, null);
    const text = written.losses.get(2) ?? "";
    written.losses.set(2, forged.encode(codec.decodeLoss({ sequence: 2, text })));
    await expect(readChain(written.journal, codec, [])).rejects.toMatchObject({ code: "journal-loss-invalid" });
  });
});
