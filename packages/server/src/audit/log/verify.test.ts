import { describe, expect, it } from "vitest";
import { formatHeader, formatItem, parseHeader, parseItem } from "./export-file.ts";
import { Lane, signOutsideLane } from "../../store/audit-record/lane.ts";
import {
  DIRECT,
  INGEST,
  ingested,
  LOG_KEY,
  logKeyOf,
  logOf,
  read,
  signedEntries,
  STARTED,
  storedOf,
  SURFACE_KEYS,
} from "./log.fixture.ts";
import { leafHash } from "./merkle.ts";
import type { SignedRecord } from "../../store/audit-record/record.ts";
import { type LogItem, type Verification, verifyLog, type VerifyOptions } from "./verify.ts";

const COUNT = 60;
const SIZES = [10, 37, COUNT];
const entries = signedEntries(COUNT);
const log = logOf(entries, SIZES);
const [, , last = ""] = log.notes;

const matching = (form: RegExp): string => expect.stringMatching(form) as string;

type Given = Partial<VerifyOptions>;

async function* streamed(items: readonly LogItem[]): AsyncGenerator<LogItem> {
  yield* items;
}

const verify = (items: readonly LogItem[], options: Given = {}): Promise<Verification> =>
  verifyLog(streamed(items), { key: LOG_KEY, outside: [], surfaces: SURFACE_KEYS, now: STARTED, ...options });

const kindsOf = ({ findings }: Verification): string[] => [...new Set(findings.map(({ kind }) => kind))];

/** The log after an attack without keys. The attacker recomputes the hashes of leaves and keeps the checkpoints. */
function rehashed(changed: readonly SignedRecord[]): LogItem[] {
  return logOf(changed, SIZES).items.map((item) =>
    item.kind === "checkpoint" ? { kind: "checkpoint", note: log.notes[SIZES.indexOf(sizeOf(item.note))] ?? "" } : item,
  );
}

const sizeOf = (note: string): number => Number(note.split("\n")[1]);

/** The same log after an attacker with the signing key has signed all checkpoints again. */
const resigned = (changed: readonly SignedRecord[], sizes = SIZES): readonly LogItem[] => logOf(changed, sizes).items;

function changed(index: number): SignedRecord[] {
  return entries.map((entry, at) => (at === index ? signOutsideLane(DIRECT, read(900)) : entry));
}

describe("a log that is whole", () => {
  it("is intact, and a checkpoint kept outside confirms the entries that it covers", async () => {
    expect(await verify(log.items, { outside: [last] })).toEqual({
      verdict: 0,
      findings: [],
      size: COUNT,
      from: 0,
      confirmed: COUNT,
      waiting: 0,
      overdue: 0,
    });
    expect(await verify(log.items, { outside: log.notes.slice(0, 2) })).toMatchObject({ verdict: 3, confirmed: 37 });
    expect(await verify(log.items)).toMatchObject({ verdict: 3, confirmed: 0, findings: [] });
  });

  it("is intact without the keys of the surfaces", async () => {
    expect(await verify(log.items, { outside: [last], surfaces: {} })).toMatchObject({ verdict: 0 });
  });

  it("may have entries that wait for the next checkpoint, but counts an entry as overdue after a minute", async () => {
    const entry = signOutsideLane(DIRECT, read(COUNT));
    const items: LogItem[] = [...log.items, { kind: "new", entry }];
    const options = { outside: [last], now: STARTED + 60_000 };
    expect(await verify(items, options)).toMatchObject({ verdict: 0, waiting: 1 });
    expect(await verify(items, { ...options, now: STARTED + 61_000 })).toMatchObject({ verdict: 3, overdue: 1 });
  });

  it("may be empty", async () => {
    expect(await verify([])).toMatchObject({ verdict: 0, size: 0 });
  });

  it("continues after a commit of unknown outcome, whether or not it was committed", async () => {
    for (const wasCommitted of [true, false]) {
      const lane = new Lane(INGEST);
      const known = lane.sign([ingested(1)]);
      lane.acknowledge();
      const unknown = lane.sign([ingested(2)]);
      lane.renew();
      const after = lane.sign([ingested(3), ingested(4)]);
      const all = [...known, ...(wasCommitted ? unknown : []), ...after];
      expect(await verify(logOf(all, [all.length]).items)).toMatchObject({ verdict: 3, findings: [] });
    }
  });
});

describe("a log that can't be checked", () => {
  it("has no checkpoint", async () => {
    expect(await verify(logOf(entries, []).items)).toMatchObject({ verdict: 1 });
  });

  it("is compared with a checkpoint that the key did not sign", async () => {
    const [other = ""] = logOf(entries, [COUNT], logKeyOf("another")).notes;
    expect(await verify(log.items, { outside: [other] })).toMatchObject({ verdict: 1, findings: [] });
  });
});

describe("a log that was changed by an attacker without keys", () => {
  it("names an entry whose bytes were changed", async () => {
    const items = log.items.map((item) => {
      if (item.kind !== "leaf" || item.index !== 12 || !item.entry) return item;
      const bytes = Buffer.from(item.entry.bytes);
      bytes[bytes.indexOf("accepted")] = 0x41;
      return { ...item, entry: { ...item.entry, bytes } };
    });
    expect(await verify(items)).toMatchObject({
      verdict: 6,
      findings: [{ kind: "changed", what: matching(/leaf 12 was/) }],
    });
  });

  it("names the leaves between two checkpoints if an entry and the hash of its leaf were changed", async () => {
    const found = await verify(rehashed(changed(12)), { surfaces: {} });
    expect(found.verdict).toBe(6);
    expect(found.findings.map(({ what }) => what)).toContain("Leaves 10 to 36 are not those of its checkpoint.");
  });

  it("names an entry that was removed with or without its leaf", async () => {
    const without = log.items.map((item) => {
      if (item.kind !== "leaf" || item.index !== 20) return item;
      const { entry: _, ...rest } = item;
      return rest;
    });
    const found = await verify(without);
    expect(found).toMatchObject({ verdict: 6 });
    expect(found.findings[0]).toEqual({ kind: "removed", what: "The entry of leaf 20 is missing." });
    const gone = await verify(log.items.filter((item) => item.kind !== "leaf" || item.index !== 20));
    expect(gone.findings[0]).toEqual({ kind: "removed", what: "Leaves 20 to 20 are missing." });
    const renumbered = await verify(rehashed([...entries.slice(0, 20), ...entries.slice(21)]));
    expect(kindsOf(renumbered)).toContain("removed");
  });

  it("names an entry that was inserted, because it has the MAC of no surface", async () => {
    const [forged] = new Lane({ ...INGEST, key: DIRECT.key }).sign([ingested(700)]);
    const inserted = [...entries.slice(0, 20), forged as SignedRecord, ...entries.slice(20)];
    const found = await verify(rehashed(inserted));
    expect(found.verdict).toBe(6);
    expect(found.findings[0]).toMatchObject({ kind: "inserted", what: matching(/^The MAC of leaf 20 /) });
    const waiting = await verify([...log.items, { kind: "new", entry: forged as SignedRecord }]);
    expect(kindsOf(waiting)).toEqual(["inserted"]);
  });

  it("names an entry without a valid MAC, although an entry of the same kind says that its review is closed", async () => {
    const thief = { ...DIRECT, key: INGEST.key };
    const forged = signOutsideLane(thief, read(700));
    const closing = (signer: typeof DIRECT): SignedRecord =>
      signOutsideLane(signer, {
        ...read(800),
        operation: "audit.review",
        outcome: "closed",
        detail: JSON.stringify({ leaf_hash: leafHash(Buffer.concat([forged.bytes, forged.mac])).toString("hex") }),
      });
    const found = async (signer: typeof DIRECT): Promise<readonly string[]> => {
      const { findings } = await verify(logOf([...entries, forged, closing(signer)], [COUNT + 2]).items);
      return findings.map(({ what }) => what);
    };
    expect(await found(DIRECT)).toEqual([]);
    const ofLeaf = (leaf: number): string => matching(new RegExp(`^The MAC of leaf ${leaf} `));
    expect(await found(thief)).toEqual([ofLeaf(COUNT), ofLeaf(COUNT + 1)]);
  });

  it("names no entry without a valid MAC after the review of each, however many there are", async () => {
    const thief = { ...DIRECT, key: INGEST.key };
    const forged = Array.from({ length: 10_001 }, (_, at) =>
      signOutsideLane(thief, { ...read(700), at: STARTED + at }),
    );
    const closing = forged.map(({ bytes, mac }) => {
      const detail = JSON.stringify({ leaf_hash: leafHash(Buffer.concat([bytes, mac])).toString("hex") });
      return signOutsideLane(DIRECT, { ...read(800), operation: "audit.review", outcome: "closed", detail });
    });
    // Copies of a row have one leaf hash, and one review closes them all.
    const copies = Array.from({ length: 10_001 }, () => forged[0] as SignedRecord);
    const all = [...entries, ...forged, ...copies, ...closing];
    expect(await verify(logOf(all, [all.length]).items)).toMatchObject({ verdict: 3, findings: [] });
  });

  it("names entries that were reordered, and a lane that was forked", async () => {
    const swapped = entries.with(20, entries[22] as SignedRecord).with(22, entries[20] as SignedRecord);
    expect(kindsOf(await verify(rehashed(swapped)))).toEqual(expect.arrayContaining(["reordered", "changed"]));
    const lane = new Lane(INGEST);
    const twice = [...lane.sign([ingested(1)]), ...lane.sign([ingested(2)])];
    expect(kindsOf(await verify(logOf(twice, [2]).items))).toEqual(["forked"]);
    const ofPerson = new Lane(DIRECT);
    const both = [...ofPerson.sign([read(1)]), ...ofPerson.sign([read(2)])];
    expect(kindsOf(await verify(logOf(both, [2]).items)), "whichever surface").toEqual(["forked"]);
  });

  it("names the truncated leaves, also if the checkpoints were rolled back with the entries", async () => {
    const checkpointed = await verify(log.items.filter((item) => item.kind !== "leaf" || item.index < 50));
    expect(checkpointed.findings.at(-1)).toMatchObject({ kind: "truncated" });
    const rolledBack = log.items.slice(0, 39);
    expect(await verify(rolledBack)).toMatchObject({ verdict: 3, size: 37 });
    expect(await verify(rolledBack, { outside: [last] })).toMatchObject({
      verdict: 6,
      findings: [{ kind: "truncated", what: "A checkpoint kept outside has 60 entries; the log has 37." }],
    });
  });

  it("names a checkpoint that the key did not sign, and columns that differ from the record", async () => {
    const foreign = logOf(entries, SIZES, logKeyOf("another")).items;
    expect(await verify(foreign)).toMatchObject({ verdict: 6, findings: [{ kind: "invalid" }, {}, {}] });
    const differing = log.items.map((item) =>
      item.kind === "leaf" && item.index === 4 && item.entry
        ? { ...item, entry: { ...item.entry, differing: ["actor"] } }
        : item,
    );
    expect(await verify(differing)).toMatchObject({
      verdict: 6,
      findings: [{ kind: "changed", what: matching(/: actor\.$/) }],
    });
  });
});

describe("an attacker with keys", () => {
  it("who has all keys can't change entries up to the latest checkpoint kept outside unnoticed", async () => {
    const forged = resigned(changed(14));
    expect(await verify(forged)).toMatchObject({ verdict: 3, findings: [] });
    expect(await verify(forged, { outside: [last] })).toMatchObject({
      verdict: 6,
      findings: [{ kind: "changed", what: "Leaves 37 to 59 are not those of a checkpoint kept outside." }],
    });
  });

  it("who has the key of ingestion can't write an entry of an administrator", async () => {
    const forged = signOutsideLane(INGEST, read(COUNT));
    const found = await verify(resigned([...entries, forged], [COUNT + 1]));
    expect(found).toMatchObject({
      verdict: 6,
      findings: [{ kind: "inserted", what: matching(/which ingest does not write/) }],
    });
    const relabelled = signOutsideLane({ ...INGEST, surface: "direct" }, read(COUNT));
    expect(kindsOf(await verify(resigned([...entries, relabelled], [COUNT + 1])))).toEqual(["inserted"]);
  });
});

describe("the file of an export", () => {
  it("gives the log that was written", async () => {
    const items: LogItem[] = [...log.items, { kind: "new", entry: storedOf(signOutsideLane(DIRECT, read(COUNT))) }];
    const lines = items.map(formatItem);
    for (const line of lines) expect(line.endsWith("\n") && line.indexOf("\n") === line.length - 1).toBe(true);
    expect(lines.map((line) => parseItem(line))).toEqual(items);
    const header = parseHeader(formatHeader(LOG_KEY, new Date(STARTED)));
    expect(header).toEqual({
      key: expect.stringMatching(/^drs-audit\/test\+/) as string,
      exportedAt: "2025-11-22T00:00:00.000Z",
    });
  });

  it.each(["", "{", "[]", "null", '{"leaf":-0.5,"hash":""}', '{"new":true}', '{"leaf":1}'])(
    "has no item %j",
    (line) => {
      expect(parseItem(line)).toBeUndefined();
      expect(parseHeader(line)).toBeUndefined();
    },
  );
});

it("the number of reported findings is bounded", async () => {
  const items = Array.from({ length: 1_000 }, (_, index): LogItem => ({
    kind: "leaf",
    index,
    hash: leafHash(Buffer.from([index % 256])),
  }));
  expect((await verify(items)).findings).toHaveLength(100);
});
