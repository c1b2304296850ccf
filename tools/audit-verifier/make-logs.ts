/**
 * `node tools/audit-verifier/make-logs.ts FOLDER`: writes proofs, and logs in the form in which the server exports
 * them. Some logs are intact and others attacked; each has the verdict of the server's verifier. The Go program must
 * reach the same verdicts.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatLogKey, signCheckpoint } from "../../packages/server/src/audit/log/checkpoint.ts";
import { formatHeader, formatItem } from "../../packages/server/src/audit/log/export-file.ts";
import { epochReferences } from "../../packages/server/src/audit/log/epoch.ts";
import { signOutsideLane } from "../../packages/server/src/store/audit-record/lane.ts";
import {
  DIRECT,
  inEpoch,
  LOG_KEY,
  logKeyOf,
  logOf,
  ORIGIN,
  PRIVATE_KEY,
  read,
  signedEntries,
  STARTED,
  type TestLog,
} from "../../packages/server/src/audit/log/log.fixture.ts";
import {
  CompactRange,
  consistencyRanges,
  hashRanges,
  inclusionRanges,
  leafHash,
} from "../../packages/server/src/audit/log/merkle.ts";
import { formatProof } from "../../packages/server/src/audit/log/proof-file.ts";
import type { SignedRecord } from "../../packages/server/src/store/audit-record/record.ts";
import { type LogItem, type Verdict, verifyLog } from "../../packages/server/src/audit/log/verify.ts";

const COUNT = 50;
const SIZES = [7, 32, COUNT];

interface Case {
  readonly name: string;
  readonly items: readonly LogItem[];
  readonly outside: readonly string[];
  readonly verdict: Verdict;
}

const entries = signedEntries(COUNT);
const forged = signOutsideLane(DIRECT, read(900));
const log = logOf(entries, SIZES);
const [, middle = "", last = ""] = log.notes;
const leaves = entries.map(({ bytes, mac }) => leafHash(bytes, mac));

/** The log that an attacker without the signing key can make: changed entries with the original checkpoints. */
function withOldNotes(changed: readonly SignedRecord[]): readonly LogItem[] {
  const sizes = SIZES.filter((size) => size <= changed.length);
  return logOf(changed, sizes).items.map((item) =>
    item.kind === "checkpoint" ? { kind: "checkpoint", note: log.notes[SIZES.indexOf(sizeOf(item.note))] ?? "" } : item,
  );
}

const sizeOf = (note: string): number => Number(note.split("\n")[1]);
const isLeaf = (item: LogItem, index: number): boolean => item.kind === "leaf" && item.index === index;

const changed = entries.with(20, forged);
const removed = entries.toSpliced(20, 1);
const inserted = entries.toSpliced(20, 0, forged);
const reordered = entries.with(20, entries[21] as SignedRecord).with(21, entries[20] as SignedRecord);

const CASES: readonly Case[] = [
  { name: "whole", items: log.items, outside: [last], verdict: 0 },
  { name: "whole, with several checkpoints", items: log.items, outside: [...log.notes], verdict: 0 },
  { name: "empty", items: [], outside: [], verdict: 0 },
  { name: "confirmed in part", items: log.items, outside: [middle], verdict: 3 },
  { name: "confirmed by nothing", items: log.items, outside: [], verdict: 3 },
  { name: "with a new entry", items: [...log.items, { kind: "new", entry: forged }], outside: [last], verdict: 3 },
  { name: "without a checkpoint", items: logOf(entries, []).items, outside: [], verdict: 1 },
  {
    name: "compared with a checkpoint of another key",
    items: log.items,
    outside: logOf(entries, [COUNT], logKeyOf("another")).notes,
    verdict: 1,
  },
  {
    name: "changed, with the old hash",
    items: log.items.map((item) => (isLeaf(item, 20) ? { ...item, entry: forged } : item)),
    outside: [],
    verdict: 6,
  },
  { name: "changed, with a new hash", items: withOldNotes(changed), outside: [], verdict: 6 },
  { name: "removed", items: log.items.filter((item) => !isLeaf(item, 20)), outside: [], verdict: 6 },
  { name: "removed, renumbered", items: withOldNotes(removed), outside: [], verdict: 6 },
  { name: "inserted", items: withOldNotes(inserted), outside: [], verdict: 6 },
  { name: "reordered", items: withOldNotes(reordered), outside: [], verdict: 6 },
  { name: "truncated", items: log.items.filter((item) => !isLeaf(item, COUNT - 1)), outside: [], verdict: 6 },
  {
    name: "truncated, with its checkpoint",
    items: logOf(entries.slice(0, 32), [7, 32]).items,
    outside: [],
    verdict: 3,
  },
  { name: "rolled back", items: logOf(entries.slice(0, 32), [7, 32]).items, outside: [last], verdict: 6 },
  { name: "signed by another key", items: logOf(entries, SIZES, logKeyOf("another")).items, outside: [], verdict: 6 },
  ...["changed", "removed", "inserted", "reordered"].map((name, index): Case => {
    const attacked = [changed, removed, inserted, reordered][index] ?? [];
    return { name: `${name}, signed again`, items: logOf(attacked, SIZES).items, outside: [last], verdict: 6 };
  }),
];

const AUDITED = { ...read(910), operation: "audit.epoch", outcome: "begun" };
const epochEntry = (references: object): SignedRecord =>
  signOutsideLane(DIRECT, { ...AUDITED, detail: JSON.stringify(references) });
const begun = epochEntry(epochReferences(2, last, middle));
const reviewOf = (outcome: string): SignedRecord =>
  signOutsideLane(DIRECT, {
    ...read(911),
    operation: "audit.review",
    outcome,
    detail: JSON.stringify({ entry_id: AUDITED.entryId }),
  });

/** A log whose database was restored to the state with 32 entries, and the second epoch of the log. */
function epochs(second: readonly SignedRecord[], first = entries.slice(0, 32)): Pick<Case, "items" | "outside"> {
  const epoch = inEpoch(2, second);
  return { items: [...logOf(first, [7, 32]).items, ...epoch.items], outside: epoch.notes };
}
const reviewed = epochs([begun, forged, reviewOf("closed")]);

const EPOCHS: readonly Case[] = [
  { name: "restored, reviewed", ...reviewed, verdict: 0 },
  {
    name: "restored, reviewed, compared with all",
    ...reviewed,
    outside: [...reviewed.outside, ...log.notes],
    verdict: 0,
  },
  { name: "restored, not reviewed", ...epochs([begun, forged]), verdict: 6 },
  { name: "restored, under review", ...epochs([begun, reviewOf("opened")]), verdict: 6 },
  { name: "restored, without a checkpoint of the epoch", ...reviewed, outside: [middle], verdict: 3 },
  { name: "restored, started by another entry", ...epochs([forged, reviewOf("closed")]), verdict: 6 },
  {
    name: "restored, changed before",
    ...epochs([begun, reviewOf("closed")], entries.slice(0, 32).with(20, forged)),
    verdict: 6,
  },
  {
    name: "restored, admits too little",
    ...epochs([epochEntry(epochReferences(2, log.notes[0] ?? "", middle)), reviewOf("closed")]),
    outside: [last],
    verdict: 6,
  },
  {
    name: "rolled back to the epoch before",
    items: logOf(entries.slice(0, 32), [7, 32]).items,
    outside: reviewed.outside,
    verdict: 6,
  },
];

/** The log with an entry that had no valid MAC, and after it a review of the entry. */
const closing = (outcome: string): SignedRecord =>
  signOutsideLane(DIRECT, {
    ...read(912),
    operation: "audit.review",
    outcome,
    detail: JSON.stringify({ leaf_hash: leafHash(forged.bytes, forged.mac).toString("hex") }),
  });
function withUnverified(...added: readonly SignedRecord[]): Pick<Case, "items" | "outside"> {
  const { items, notes } = logOf([...entries, ...added], [COUNT + added.length]);
  const marked = items.map((item): LogItem => {
    const isForged = item.kind === "leaf" && item.entry?.mac.equals(forged.mac) === true;
    return isForged ? { ...item, unverified: true } : item;
  });
  return { items: marked, outside: notes };
}

const UNVERIFIED: readonly Case[] = [
  { name: "unverified", ...withUnverified(forged), verdict: 6 },
  { name: "unverified, under review", ...withUnverified(forged, closing("opened")), verdict: 6 },
  { name: "unverified, reviewed", ...withUnverified(forged, closing("closed")), verdict: 0 },
];

const treeAt = (size: number): CompactRange => {
  const tree = new CompactRange();
  for (const leaf of leaves.slice(0, size)) tree.append(leaf);
  return tree;
};
const pruned: LogItem = { kind: "start", pruned: true, epoch: 1, size: 32, roots: treeAt(32).roots, note: middle };
const pruneEntry = signOutsideLane(DIRECT, {
  ...read(920),
  operation: "audit.prune",
  detail: '{"epoch":"1","size":"32"}',
});
/** The entries after the first 32. The last one says that the first 32 were pruned. */
const prunedLog = logOf([...entries, pruneEntry], [32, COUNT + 1]);
const afterPruning = prunedLog.items.filter((item) => item.kind !== "leaf" || item.index >= 32).slice(1);
const [, newest = ""] = prunedLog.notes;

const PRUNED: readonly Case[] = [
  { name: "pruned", items: [pruned, ...afterPruning], outside: [newest], verdict: 0 },
  {
    name: "pruned, compared with all",
    items: [pruned, ...afterPruning],
    outside: [...log.notes.slice(0, 2), newest],
    verdict: 0,
  },
  { name: "pruned, with nothing outside", items: [pruned, ...afterPruning], outside: [], verdict: 3 },
  {
    name: "pruned, with other hashes",
    items: [{ ...pruned, roots: [leafHash()] }, ...afterPruning],
    outside: [],
    verdict: 6,
  },
  {
    name: "pruned, with another checkpoint",
    items: [{ ...pruned, note: last }, ...afterPruning],
    outside: [],
    verdict: 6,
  },
  {
    name: "pruned, and no entry says so",
    items: [pruned, ...log.items.filter((item) => item.kind !== "leaf" || item.index >= 32).slice(2)],
    outside: [last],
    verdict: 6,
  },
];

/**
 * At this time an entry without a leaf has waited too long. The Go program uses no time, and reports such an entry as
 * not confirmed.
 */
const LATE = STARTED + 3_600_000;

const [, , folder = ""] = process.argv;
mkdirSync(folder, { recursive: true });
const write = (name: string, text: string): string => (writeFileSync(join(folder, name), text), name);

async function* streamed<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function writeCase({ name, items, outside, verdict }: Case, number: number): Promise<object> {
  const { verdict: found, findings } = await verifyLog(streamed(items), { key: LOG_KEY, outside, now: LATE });
  if (found !== verdict)
    throw new Error(`${name}: the verdict is ${found}, not ${verdict}: ${JSON.stringify(findings)}`);
  const text = formatHeader(LOG_KEY, new Date(LATE)) + items.map(formatItem).join("");
  const checkpoints = outside.map((note, index) => write(`${number}-${index}.checkpoint`, note));
  return { name, export: write(`${number}.ndjson`, text), checkpoints, verdict };
}

async function writeProof(of: TestLog, index: number, name: string, verdict: Verdict): Promise<object> {
  const hashes = await hashRanges(inclusionRanges(index, { start: 0, end: COUNT }), streamed(leaves));
  const proof = write(`${name}.tlog-proof`, formatProof({ index, hashes, checkpoint: of.notes.at(-1) ?? "" }));
  return { name, export: "0.ndjson", proof, verdict };
}

async function consistency(first: number, second: number): Promise<object> {
  const hashes = await hashRanges(consistencyRanges(first, { start: 0, end: second }), streamed(leaves));
  const [root1, root2] = [first, second].map((size) => rootOf(size).toString("base64"));
  return { first, second, root1, root2, hashes: hashes.map((hash) => hash.toString("base64")) };
}

function rootOf(size: number): Buffer {
  const tree = new CompactRange();
  for (const leaf of leaves.slice(0, size)) tree.append(leaf);
  return tree.root();
}

const logs = await Promise.all([...CASES, ...EPOCHS, ...UNVERIFIED, ...PRUNED].map(writeCase));
const otherRoot = { origin: ORIGIN, size: COUNT, root: leafHash() };
const another: TestLog = { items: [], notes: [signCheckpoint(otherRoot, PRIVATE_KEY)] };
const proofs = [
  ...(await Promise.all([0, 19, COUNT - 1].map((index) => writeProof(log, index, `entry ${index}`, 0)))),
  await writeProof(another, 19, "another root", 6),
];
const pairs = Array.from({ length: COUNT }, (_, first) => [first + 1, COUNT] as const);
const consistent = await Promise.all(pairs.map(([first, second]) => consistency(first, second)));
const manifest = {
  key: formatLogKey(ORIGIN, PRIVATE_KEY),
  other_key: formatLogKey(ORIGIN, logKeyOf("another")),
  logs,
  proofs,
  consistency: consistent,
};
write("manifest.json", JSON.stringify(manifest));
