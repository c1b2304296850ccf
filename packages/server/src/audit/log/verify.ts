import type { LogKey } from "./checkpoint.ts";
import {
  type EpochCheckpoint,
  FIRST_EPOCH,
  PRUNE_OPERATION,
  readEpochStart,
  referencesOf,
  REVIEW_OPERATION,
  verifyEpochCheckpoint,
} from "./epoch.ts";
import { KEYS_OPERATION, ActiveKeys, mayChangeKeys } from "./active-keys.ts";
import { isOfSurface, type KeyRing, type SurfaceKeys } from "../../store/audit-record/surfaces.ts";
import { CompactRange, leafHash } from "./merkle.ts";
import { type AuditRecord, decodeRecord, type Head, type SignedRecord } from "../../store/audit-record/record.ts";

/**
 * An item of a log. The items come epoch by epoch: the leaves by index, with each checkpoint after the last leaf that
 * it covers. New entries come last.
 */
export type LogItem =
  | LogStart
  | {
      readonly kind: "leaf";
      /** Absent in the first epoch. */
      readonly epoch?: number;
      /** The index in the tree, which starts at 0 in each epoch. */
      readonly index: number;
      /** The hash that the log has for the leaf. */
      readonly hash: Buffer;
      /** Absent if the entry of the leaf is missing. */
      readonly entry?: StoredEntry;
      /** Whether the entry had no valid MAC when it got the leaf. Such an entry is no person's act. */
      readonly unverified?: true;
    }
  | { readonly kind: "checkpoint"; readonly note: string }
  /** An entry that is in no leaf yet. */
  | { readonly kind: "new"; readonly entry: StoredEntry };

/** The start of a verification that does not begin with the first leaf. */
export interface LogStart {
  readonly kind: "start";
  readonly epoch: number;
  /** Number of leaves before it. */
  readonly size: number;
  /** The roots of the perfect subtrees over these leaves, which the checkpoint signs. */
  readonly roots: readonly Buffer[];
  readonly note: string;
  /** Whether the leaves before the start were pruned. If not, the caller asked for a part of the log. */
  readonly pruned: boolean;
}

export interface StoredEntry extends SignedRecord {
  /** The decoded bytes, if the reader has decoded them already. */
  readonly record?: AuditRecord;
  /** Names of columns that differ from the record. */
  readonly differing?: readonly string[];
  /** The id of the row. An inserted entry may have the bytes of another one. */
  readonly rowId?: string;
}

export type FindingKind =
  | "changed"
  | "removed"
  | "inserted"
  | "reordered"
  | "forked"
  | "truncated"
  | "restored"
  | "invalid";

export interface Finding {
  readonly kind: FindingKind;
  /** A sentence that names the leaf, entry or lane. */
  readonly what: string;
}

export interface VerifyOptions {
  readonly key: LogKey;
  /** Checkpoints that were kept outside. */
  readonly outside: readonly string[];
  /** MAC keys of the surfaces; without them, MACs are compared as links of chains only. */
  readonly surfaces?: SurfaceKeys;
  /** Earlier keys of the surfaces, which are valid until an entry replaces them. */
  readonly replaced?: KeyRing;
  /** Whether an entry before the start of the verification may activate keys that the verifier lacks. */
  readonly mayLackKeys?: boolean;
  /**
   * Milliseconds since the Unix epoch. An entry that was written more than a minute earlier and is in no leaf is
   * overdue.
   */
  readonly now: number;
}

/**
 * 0: intact. 3: intact, but an entry is overdue, or no checkpoint kept outside confirms the last entries. 6: broken. 1:
 * can't be checked.
 */
export type Verdict = 0 | 1 | 3 | 6;

export interface Verification {
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  /** Number of leaves. */
  readonly size: number;
  /**
   * Number of leaves that are not verified, because the log starts after them. They belong to the epoch with which the
   * log starts.
   */
  readonly from: number;
  /** Number of leaves that a checkpoint kept outside confirms. */
  readonly confirmed: number;
  /**
   * Number of entries in no leaf that wait for the next checkpoint; `overdue` counts the entries that have waited too
   * long.
   */
  readonly waiting: number;
  readonly overdue: number;
  /**
   * The entry that activates keys which the verifier lacks; present only if nothing else is wrong. Then each finding
   * names an entry with an unknown key.
   */
  readonly lacksKeysOf?: string;
}

/** Maximum number of findings that are reported. */
const MAX_FINDINGS = 100;
/** Maximum number of findings whose texts are kept until the reviews that close them are read. */
const MAX_KEPT = 10_000;
/** An entry gets its leaf within seconds. If it has none after this time, something prevents it. */
const SEQUENCED_WITHIN_MS = 60_000;

interface Signed extends EpochCheckpoint {
  readonly isOutside: boolean;
}

/**
 * Verifies a log in one pass. Memory grows with the numbers of lanes, epochs, closed reviews and leaves that a review can
 * close, not of all leaves.
 */
export async function verifyLog(items: AsyncIterable<LogItem>, options: VerifyOptions): Promise<Verification> {
  const verifier = new LogVerifier(options);
  for await (const item of items) verifier.add(item);
  return verifier.finish();
}

const INSERTED = "it was inserted or changed";

/**
 * Decides what MACs of unknown keys in a log mean: that it was changed, or that the verifier lacks keys. The verifier
 * only lacks keys under three conditions: no entry after the first such MAC has a known key; one of these entries
 * activates keys; nothing else is wrong. After keys were activated, no genuine entry has an earlier key. An entry with
 * a known key after one with an unknown key therefore shows that one of them is forged.
 */
class LackingKeys {
  #change: string | undefined;
  /** Number of entries without the MAC of a known key, since the last entry with one. */
  #entries = 0;

  /**
   * Call it for an entry that activates keys and does not have the MAC of a known key. @param name the name of the
   * entry.
   */
  change(name: string): void {
    this.#change = name;
  }

  invalid(): void {
    this.#entries++;
  }

  valid(): void {
    this.#change = undefined;
    // guard(drop): unknown keys at the end of a log hide no forged entry before them
    this.#entries = 0;
  }

  /** @param findings the number of all findings. @returns the entry whose keys the verifier lacks. */
  finish(findings: number): string | undefined {
    // guard(true): an entry that activates unknown keys was inserted if no entry has these keys
    const isLacking = this.#entries > 1 && this.#entries === findings;
    return isLacking ? this.#change : undefined;
  }
}

/** A change of epoch, with the entry that begins the new epoch. */
interface EpochChange {
  readonly entryId: string;
  readonly what: string;
}

class LogVerifier {
  readonly #options: VerifyOptions;
  readonly #keys: ActiveKeys;
  readonly #lackingKeys = new LackingKeys();
  #epoch = FIRST_EPOCH;
  #tree = new CompactRange();
  /** Number of leaves of earlier epochs, and how many of them are confirmed. */
  #earlierLeaves = 0;
  #earlierConfirmed = 0;
  /** Number of leaves before the start. */
  #from = 0;
  #isPartial = false;
  /** The start of a pruned log, until an entry says that the leaves before the start were pruned. */
  #unexplained: LogStart | undefined;
  readonly #changes: EpochChange[] = [];
  /** Ids of entries whose review is closed. */
  readonly #reviewed = new Set<string>();
  readonly #heads = new Map<string, Head>();
  /** The findings. One that a closed review has closed is left out. */
  readonly #findings = new Set<Finding>();
  /** What a closed review of a leaf closes, by the hash of the leaf: all its findings, and those whose texts are kept. */
  readonly #closable = new Map<string, { count: number; readonly kept: Finding[] }>();
  /** Number of all open findings, also of those beyond the maximum. */
  #foundCount = 0;
  /** Checkpoints kept outside that are larger than the tree or of a later epoch, oldest first. */
  readonly #expected: Signed[] = [];
  #unreadableCount = 0;
  #checkpointCount = 0;
  /** The size of the largest tree whose root a checkpoint confirmed. */
  #confirmedSize = 0;
  /** Whether a root differed. Then every later root differs too, and is not reported again. */
  #hasDiffered = false;
  #confirmed = 0;
  #waiting = 0;
  #overdue = 0;

  constructor(options: VerifyOptions) {
    this.#options = options;
    this.#keys = new ActiveKeys(options.surfaces, options.replaced);
    for (const note of options.outside) {
      const checkpoint = verifyEpochCheckpoint(note, options.key);
      if (!checkpoint) this.#unreadableCount++;
      // A checkpoint of an empty tree is skipped, because every log extends the empty one.
      else if (checkpoint.size > 0) this.#expected.push({ ...checkpoint, isOutside: true });
    }
    this.#expected.sort((one, other) => one.epoch - other.epoch || one.size - other.size);
  }

  add(item: LogItem): void {
    if (item.kind === "start") this.#start(item);
    else if (item.kind === "leaf") this.#addLeaf(item);
    else if (item.kind === "checkpoint") this.#addCheckpoint(item.note);
    else this.#addNew(item.entry);
  }

  finish(): Verification {
    for (const checkpoint of this.#expected) this.#truncated(checkpoint);
    for (const { entryId, what } of this.#changes) {
      // guard(true): a restore is reported until its review is closed
      if (!this.#reviewed.has(entryId)) this.#report("restored", what);
    }
    // guard(false): leaves are missing only where an entry says so
    if (this.#unexplained) {
      const { epoch, size: missing } = this.#unexplained;
      this.#report(
        "removed",
        `The log starts after ${missing} leaves of epoch ${epoch}, and no entry says that they were pruned.`,
      );
    }
    const oldKey = this.#keys.finish();
    if (oldKey !== undefined) this.#report("inserted", oldKey);
    const size = this.#earlierLeaves + this.#tree.size;
    const confirmed = this.#earlierConfirmed + this.#confirmed;
    const lacksKeysOf = this.#lackingKeys.finish(this.#foundCount);
    const counts = { size, from: this.#from, confirmed, waiting: this.#waiting, overdue: this.#overdue };
    const findings = [...this.#findings].slice(0, MAX_FINDINGS);
    if (lacksKeysOf !== undefined) return { verdict: 1, findings, ...counts, lacksKeysOf };
    return { verdict: this.#verdict(size, confirmed), findings, ...counts };
  }

  #truncated({ size, epoch }: Signed): void {
    const has = epoch === this.#epoch ? `the log has ${this.#tree.size}` : "the log does not have its epoch";
    this.#report("truncated", `A checkpoint kept outside has ${size} entries; ${has}.`);
  }

  #verdict(size: number, confirmed: number): Verdict {
    if (this.#foundCount > 0) return 6;
    if (this.#unreadableCount > 0 || (this.#checkpointCount === 0 && confirmed === 0 && size > 0)) return 1;
    return confirmed < size || this.#overdue > 0 ? 3 : 0;
  }

  /** The hashes of the leaves before the start must lead to the root of a signed checkpoint. */
  #start(start: LogStart): void {
    const { epoch, size, roots, note, pruned } = start;
    if (pruned) this.#unexplained = start;
    const checkpoint = verifyEpochCheckpoint(note, this.#options.key);
    const tree = new CompactRange(size, roots);
    // guard(false): a log starts with hashes that were signed
    if (checkpoint?.epoch !== epoch || checkpoint.size !== size || !tree.root().equals(checkpoint.root)) {
      this.#report("invalid", `The hashes of the first ${size} leaves are not signed by the checkpoint of the start.`);
    }
    this.#checkpointCount++;
    this.#keys.startLater();
    if (this.#options.mayLackKeys === true) this.#lackingKeys.change("an entry before the start");
    [this.#tree, this.#epoch, this.#from, this.#isPartial] = [tree, epoch, size, true];
    while (this.#expected[0] && isBefore(this.#expected[0], { epoch, size })) this.#expected.shift();
    this.#compareExpected();
  }

  #addLeaf(item: LogItem & { readonly kind: "leaf" }): void {
    const { epoch = FIRST_EPOCH, index, hash, entry, unverified = false } = item;
    if (epoch < this.#epoch) this.#report("reordered", `A leaf of epoch ${epoch} comes after epoch ${this.#epoch}.`);
    if (epoch > this.#epoch) this.#startEpoch(epoch, entry);
    const next = this.#tree.size;
    if (index > next) this.#report("removed", `Leaves ${next} to ${index - 1} are missing.`);
    if (index < next) this.#report("inserted", `Leaf ${index} is there twice.`);
    this.#tree.append(hash);
    if (entry) this.#addEntry(entry, hash, index, unverified);
    else this.#report("removed", `The entry of leaf ${index} is missing.`);
    this.#compareExpected();
  }

  #compareExpected(): void {
    while (this.#expected[0]?.epoch === this.#epoch && this.#expected[0].size <= this.#tree.size) {
      this.#compare(this.#expected.shift() as Signed);
    }
  }

  /**
   * @param entry the first entry of the epoch. It names the last checkpoint of the previous epoch, which is compared
   * with the tree.
   */
  #startEpoch(epoch: number, entry: StoredEntry | undefined): void {
    const record = entry && decodeRecord(entry.bytes);
    const start = readEpochStart(record, epoch, this.#options.key);
    if (!record || !start) this.#report("invalid", `Epoch ${epoch} does not begin with the entry that starts it.`);
    else {
      const { kept, continued } = start;
      this.#compareEnd(continued);
      const had = `the database had ${this.#tree.size} of epoch ${this.#epoch}`;
      const what = `Epoch ${epoch} follows a restore: ${kept.size} entries of epoch ${kept.epoch} were kept outside, ${had}.`;
      this.#changes.push({ entryId: record.entryId, what });
    }
    while (this.#expected[0] && this.#expected[0].epoch < epoch) {
      const lost = this.#expected.shift() as Signed;
      // guard(false): the entry of an epoch admits all that was lost
      if (!start || isAfter(lost, start.kept)) this.#truncated(lost);
    }
    this.#earlierLeaves += this.#tree.size;
    this.#earlierConfirmed += this.#confirmed;
    this.#tree = new CompactRange();
    this.#epoch = epoch;
    [this.#confirmed, this.#confirmedSize, this.#hasDiffered] = [0, 0, false];
  }

  /** @param continued the last checkpoint of the epoch that ends. */
  #compareEnd(continued: EpochCheckpoint | undefined): void {
    const isEnd =
      continued === undefined
        ? this.#tree.size === 0
        : continued.epoch === this.#epoch &&
          continued.size === this.#tree.size &&
          continued.root.equals(this.#tree.root());
    // guard(true): the new epoch confirms the leaves before a restore
    if (!isEnd) this.#report("changed", `The leaves of epoch ${this.#epoch} differ from what the next epoch names.`);
  }

  #addEntry(entry: StoredEntry, hash: Buffer, index: number, isUnverified: boolean): void {
    // guard(true): a leaf is the hash of its entry
    if (leafHash(entry.bytes, entry.mac).equals(hash)) {
      const leaf = hash.toString("hex");
      if (isUnverified) this.#addUnverified(entry, index, leaf);
      else this.#checkEntry(entry, `leaf ${index}`, leaf);
      return;
    }
    this.#report("changed", `The entry of leaf ${index} was changed.`);
    const record = decodeRecord(entry.bytes);
    if (record) this.#follow(record, entry.mac, `leaf ${index}`);
  }

  /** An entry that a worker refused when it made the leaf takes no part in lanes, and explains nothing. */
  #addUnverified({ bytes, mac, differing, rowId }: StoredEntry, index: number, leaf: string): void {
    const record = decodeRecord(bytes);
    const entryId = rowId ?? record?.entryId;
    const name = entryId === undefined ? `leaf ${index}` : `leaf ${index} (entry ${entryId})`;
    const isValid = record && isOfSurface(record) && !differing && this.#keys.has(record.surface, { bytes, mac });
    const what = isValid
      ? `${name} has a valid MAC, but is marked as unverified: the mark was changed, or a worker lacked a key.`
      : `${name} has no MAC of a surface, or columns that differ from its record: no person did what it says.`;
    this.#report("inserted", what, leaf);
  }

  #addNew(entry: StoredEntry): void {
    const record = this.#checkEntry(entry, "an entry that is in no leaf");
    if (record && record.at < this.#options.now - SEQUENCED_WITHIN_MS) this.#overdue++;
    else this.#waiting++;
  }

  #addCheckpoint(note: string): void {
    const checkpoint = verifyEpochCheckpoint(note, this.#options.key);
    if (checkpoint?.epoch !== this.#epoch)
      return this.#report("invalid", `A checkpoint after leaf ${this.#tree.size - 1} is not signed by the key.`);
    this.#checkpointCount++;
    if (checkpoint.size > this.#tree.size) {
      return this.#report("truncated", `A checkpoint has ${checkpoint.size} entries; the log has ${this.#tree.size}.`);
    }
    this.#compare({ ...checkpoint, isOutside: false });
  }

  #compare({ size, root, isOutside }: Signed): void {
    // A checkpoint must come directly after its last leaf, so the roots of smaller trees are not kept.
    if (size !== this.#tree.size) return this.#report("reordered", `A checkpoint of ${size} entries is out of order.`);
    if (this.#tree.root().equals(root)) {
      this.#confirmedSize = size;
      if (isOutside) {
        this.#confirmed = size;
        // This epoch's first entry names the end of the previous epoch, so the checkpoint also confirms all earlier
        // epochs.
        this.#earlierConfirmed = this.#earlierLeaves;
      }
      return;
    }
    if (this.#hasDiffered) return;
    this.#hasDiffered = true;
    const where = isOutside ? "a checkpoint kept outside" : "its checkpoint";
    this.#report("changed", `Leaves ${this.#confirmedSize} to ${size - 1} are not those of ${where}.`);
  }

  /** @returns the record, if it is readable. */
  #checkEntry(entry: StoredEntry, where: string, leaf?: string): AuditRecord | undefined {
    const { bytes, mac, differing, record = decodeRecord(bytes) } = entry;
    if (!record) {
      this.#report("invalid", `The bytes of ${where} are no entry.`, leaf);
      return undefined;
    }
    const name = `${where} (entry ${record.entryId})`;
    const isValid = this.#checkMac(record, { bytes, mac }, name, leaf);
    if (isValid && record.operation === KEYS_OPERATION) this.#changeKeys(record, { bytes, mac }, name);
    if (differing) this.#report("changed", `Columns of ${name} are not those of its record: ${differing.join(", ")}.`);
    this.#follow(record, mac, name);
    // guard: an unsigned entry closes no finding and no review
    if (isValid) this.#noteExplanation(record);
    return record;
  }

  /** Remembers what entries explain about the log: closed reviews, and leaves that were pruned. */
  #noteExplanation(record: AuditRecord): void {
    const { operation, outcome } = record;
    if (operation !== REVIEW_OPERATION && operation !== PRUNE_OPERATION) return;
    const { entry_id: reviewed = "", leaf_hash: leaf, epoch, size } = referencesOf(record);
    if (operation === REVIEW_OPERATION && outcome === "closed") {
      this.#reviewed.add(reviewed);
      if (leaf !== undefined) this.#close(leaf);
    }
    const start = this.#unexplained;
    const isStart = epoch === String(start?.epoch) && size === String(start?.size);
    if (operation === PRUNE_OPERATION && isStart) this.#unexplained = undefined;
  }

  /** @returns whether the surface that the record names may have written it, by MAC and operation. */
  #checkMac(record: AuditRecord, signed: SignedRecord, name: string, leaf?: string): boolean {
    const state = this.#keys.check(record.surface, signed);
    // guard(false): an entry in the log has the MAC of its surface
    if (state === "invalid") {
      const isChange = record.operation === KEYS_OPERATION && mayChangeKeys(record.surface);
      if (isChange) this.#lackingKeys.change(name);
      this.#lackingKeys.invalid();
      const what = isChange ? "it was inserted or changed, or activates keys that the verifier lacks" : INSERTED;
      this.#report("inserted", `The MAC of ${name} is not of ${record.surface}: ${what}.`, leaf);
    } else this.#lackingKeys.valid();
    // guard(false): a process that has only the installation secret signs for no surface that has a key of its own
    if (state === "replaced") {
      const what = `The MAC of ${name} is of a key of ${record.surface} that was replaced before.`;
      this.#report("inserted", what, leaf);
    }
    // guard(false): a surface writes its own operations only
    if (!isOfSurface(record)) {
      this.#report(
        "inserted",
        `${name} has the operation ${record.operation}, which ${record.surface} does not write.`,
        leaf,
      );
      return false;
    }
    return state === "valid";
  }

  #changeKeys(record: AuditRecord, signed: SignedRecord, name: string): void {
    // guard(false): a process of the admin API activates no keys
    if (!mayChangeKeys(record.surface)) return this.#report("inserted", `${record.surface} changes no keys: ${name}.`);
    const problem = this.#keys.change(record.surface, signed, referencesOf(record));
    if (problem !== undefined) this.#report("inserted", `${name} changes keys, and it ${problem}.`);
  }

  #follow({ place, previous }: AuditRecord, mac: Buffer, name: string): void {
    if (!place) return;
    const head = { ...place, mac };
    const last = this.#heads.get(head.lane);
    // The entries of a lane before the start are unknown.
    if (!last && this.#isPartial) return void this.#heads.set(head.lane, head);
    const expected = (last?.number ?? 0) + 1;
    const lane = `lane ${head.lane}`;
    if (head.number > expected)
      this.#report("removed", `Entries ${expected} to ${head.number - 1} of ${lane} are missing.`);
    else if (last && head.number === last.number)
      this.#report("forked", `Two entries are number ${head.number} of ${lane}.`);
    else if (head.number < expected) this.#report("reordered", `${name} comes after a later entry of ${lane}.`);
    else this.#checkLink(last, previous, name);
    if (head.number >= expected) this.#heads.set(head.lane, head);
  }

  /**
   * Checks that the entry names the last entry of its lane as the previous one; or, if it is the first of its lane, an
   * entry of another lane.
   */
  #checkLink(last: Head | undefined, previous: Head | undefined, name: string): void {
    const before = last ?? (previous && this.#heads.get(previous.lane));
    if (!previous && !before) return;
    if (!previous || !before || before.number < previous.number) {
      return this.#report("removed", `The entry before ${name} is missing.`);
    }
    // A lane may have entries after the entry from which another lane continues, because the outcome of a commit was
    // unknown.
    const isNext = before.lane === previous.lane && before.number === previous.number;
    if (last ? !isNext || !before.mac.equals(previous.mac) : isNext && !before.mac.equals(previous.mac)) {
      this.#report("changed", `The entry before ${name} is not the one that it names.`);
    }
  }

  /** @param leaf the hash of a leaf. A closed review of this leaf closes the finding. */
  #report(kind: FindingKind, what: string, leaf?: string): void {
    this.#foundCount++;
    const ofLeaf = leaf === undefined ? undefined : (this.#closable.get(leaf) ?? { count: 0, kept: [] });
    if (ofLeaf && leaf !== undefined) this.#closable.set(leaf, ofLeaf);
    if (ofLeaf) ofLeaf.count++;
    if (this.#findings.size >= MAX_KEPT) return;
    const finding = { kind, what };
    this.#findings.add(finding);
    ofLeaf?.kept.push(finding);
  }

  #close(leaf: string): void {
    const { count = 0, kept = [] } = this.#closable.get(leaf) ?? {};
    this.#foundCount -= count;
    for (const finding of kept) this.#findings.delete(finding);
    this.#closable.delete(leaf);
  }
}

type Position = Pick<EpochCheckpoint, "epoch" | "size">;

const isBefore = (one: Position, other: Position): boolean =>
  one.epoch < other.epoch || (one.epoch === other.epoch && one.size < other.size);

const isAfter = (one: EpochCheckpoint, other: EpochCheckpoint): boolean =>
  one.epoch === other.epoch && one.size > other.size;
