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

/** A log, the checkpoints that were kept outside, and the verdict. */
type Case = readonly [name: string, items: readonly LogItem[], outside: readonly string[], verdict: Verdict];

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

const at32 = logOf(entries.slice(0, 32), [7, 32]).items;
const all = log.items;
const replaced = (index: number, by: object): readonly LogItem[] =>
  all.map((item) => (isLeaf(item, index) ? { ...item, ...by } : item));

const CASES: readonly Case[] = [
  ["whole", all, [last], 0],
  ["whole, with several checkpoints", all, log.notes, 0],
  ["empty", [], [], 0],
  ["confirmed in part", all, [middle], 3],
  ["confirmed by nothing", all, [], 3],
  ["with a new entry", [...all, { kind: "new", entry: forged }], [last], 3],
  ["without a checkpoint", logOf(entries, []).items, [], 1],
  ["compared with a checkpoint of another key", all, logOf(entries, [COUNT], logKeyOf("another")).notes, 1],
  ["changed, with the old hash", replaced(20, { entry: forged }), [], 6],
  ["changed, with a new hash", withOldNotes(changed), [], 6],
  ["removed", all.filter((item) => !isLeaf(item, 20)), [], 6],
  ["removed, renumbered", withOldNotes(removed), [], 6],
  ["inserted", withOldNotes(inserted), [], 6],
  ["reordered", withOldNotes(reordered), [], 6],
  ["truncated", all.filter((item) => !isLeaf(item, COUNT - 1)), [], 6],
  ["truncated, with its checkpoint", at32, [], 3],
  ["rolled back", at32, [last], 6],
  ["signed by another key", logOf(entries, SIZES, logKeyOf("another")).items, [], 6],
  ["changed, signed again", logOf(changed, SIZES).items, [last], 6],
  ["removed, signed again", logOf(removed, SIZES).items, [last], 6],
  ["inserted, signed again", logOf(inserted, SIZES).items, [last], 6],
  ["reordered, signed again", logOf(reordered, SIZES).items, [last], 6],
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
const restored = (second: readonly SignedRecord[], first = entries.slice(0, 32)): readonly LogItem[] => [
  ...logOf(first, [7, 32]).items,
  ...inEpoch(2, second).items,
];
const notesOf = (second: readonly SignedRecord[]): readonly string[] => inEpoch(2, second).notes;

const reviewed = [begun, forged, reviewOf("closed")];
const unreviewed = [begun, forged];
const underReview = [begun, reviewOf("opened")];
const startedByAnother = [forged, reviewOf("closed")];
const closed = [begun, reviewOf("closed")];
const admitsTooLittle = [epochEntry(epochReferences(2, log.notes[0] ?? "", middle)), reviewOf("closed")];

const EPOCHS: readonly Case[] = [
  ["restored, reviewed", restored(reviewed), notesOf(reviewed), 0],
  ["restored, reviewed, compared with all", restored(reviewed), [...notesOf(reviewed), ...log.notes], 0],
  ["restored, not reviewed", restored(unreviewed), notesOf(unreviewed), 6],
  ["restored, under review", restored(underReview), notesOf(underReview), 6],
  ["restored, without a checkpoint of the epoch", restored(reviewed), [middle], 3],
  ["restored, started by another entry", restored(startedByAnother), notesOf(startedByAnother), 6],
  ["restored, changed before", restored(closed, entries.slice(0, 32).with(20, forged)), notesOf(closed), 6],
  ["restored, admits too little", restored(admitsTooLittle), [last], 6],
  ["rolled back to the epoch before", at32, notesOf(reviewed), 6],
];

/** The log with an entry that had no valid MAC, and after it a review of the entry. */
const closing = (outcome: string): SignedRecord =>
  signOutsideLane(DIRECT, {
    ...read(912),
    operation: "audit.review",
    outcome,
    detail: JSON.stringify({ leaf_hash: leafHash(forged.bytes, forged.mac).toString("hex") }),
  });
function withUnverified(name: string, added: readonly SignedRecord[], verdict: Verdict): Case {
  const { items, notes } = logOf([...entries, ...added], [COUNT + added.length]);
  const marked = items.map((item): LogItem => {
    const isForged = item.kind === "leaf" && item.entry?.mac.equals(forged.mac) === true;
    return isForged ? { ...item, unverified: true } : item;
  });
  return [name, marked, notes, verdict];
}

const UNVERIFIED: readonly Case[] = [
  withUnverified("unverified", [forged], 6),
  withUnverified("unverified, under review", [forged, closing("opened")], 6),
  withUnverified("unverified, reviewed", [forged, closing("closed")], 0),
];

const treeAt = (size: number): CompactRange => {
  const tree = new CompactRange();
  for (const leaf of leaves.slice(0, size)) tree.append(leaf);
  return tree;
};
const pruned = { kind: "start", pruned: true, epoch: 1, size: 32, roots: treeAt(32).roots, note: middle } as const;
const pruneEntry = signOutsideLane(DIRECT, {
  ...read(920),
  operation: "audit.prune",
  detail: '{"epoch":"1","size":"32"}',
});
/** The items after the first 32 leaves. */
const rest = (items: readonly LogItem[], notes: number): readonly LogItem[] =>
  items.filter((item) => item.kind !== "leaf" || item.index >= 32).slice(notes);
/** In this log, the last entry says that the first 32 were pruned. */
const prunedLog = logOf([...entries, pruneEntry], [32, COUNT + 1]);
const after = rest(prunedLog.items, 1);
const [, newest = ""] = prunedLog.notes;

const PRUNED: readonly Case[] = [
  ["pruned", [pruned, ...after], [newest], 0],
  ["pruned, compared with all", [pruned, ...after], [...log.notes.slice(0, 2), newest], 0],
  ["pruned, with nothing outside", [pruned, ...after], [], 3],
  ["pruned, with other hashes", [{ ...pruned, roots: [leafHash()] }, ...after], [], 6],
  ["pruned, with another checkpoint", [{ ...pruned, note: last }, ...after], [], 6],
  ["pruned, and no entry says so", [pruned, ...rest(all, 2)], [last], 6],
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

async function writeCase([name, items, outside, verdict]: Case, number: number): Promise<object> {
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

const rootOf = (size: number): Buffer => treeAt(size).root();

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
