import { timingSafeEqual } from "node:crypto";
import { type Checkpoint, type LogKey, openCheckpoint } from "./checkpoint.ts";
import { type Surfaces, isOfSurface } from "./surfaces.ts";
import { CompactRange, leafHash } from "./merkle.ts";
import { type AuditRecord, decodeRecord, type Head, macOf, type SignedRecord } from "./record.ts";

/** A part of a log, in the order of the log: leaves by index, each checkpoint after its last leaf, then new entries. */
export type LogItem =
  | {
      readonly kind: "leaf";
      readonly index: number;
      /** The hash that the log has for the leaf. */
      readonly hash: Buffer;
      /** Absent where the log has a leaf and no entry. */
      readonly entry?: StoredEntry;
    }
  | { readonly kind: "checkpoint"; readonly note: string }
  /** An entry that is in no leaf yet. */
  | { readonly kind: "new"; readonly entry: StoredEntry };

export interface StoredEntry extends SignedRecord {
  /** Names of columns that differ from the record. */
  readonly differing?: readonly string[];
}

export type FindingKind = "changed" | "removed" | "inserted" | "reordered" | "forked" | "truncated" | "invalid";

export interface Finding {
  readonly kind: FindingKind;
  /** A sentence that names leaf, entry or lane. */
  readonly what: string;
}

export interface VerifyOptions {
  readonly key: LogKey;
  /** Checkpoints that were kept outside. */
  readonly outside: readonly string[];
  /** MAC keys of the surfaces; without them, MACs are compared as links of chains only. */
  readonly surfaces?: Surfaces;
  /** Milliseconds since the Unix epoch; an entry that is in no leaf much later than it was written is not confirmed. */
  readonly now: number;
}

/** 0: holds. 3: holds, and nothing outside confirms the last entries. 6: broken. 1: can't be checked. */
export type Verdict = 0 | 1 | 3 | 6;

export interface Verification {
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  /** Number of leaves. */
  readonly size: number;
  /** Number of leaves that a checkpoint kept outside confirms. */
  readonly confirmed: number;
  /** Entries in no leaf, which wait for the next checkpoint, and entries that have waited too long. */
  readonly waiting: number;
  readonly overdue: number;
}

/** Maximum number of findings; a log with more is as broken. */
const MAX_FINDINGS = 100;
/** An entry is in the tree within seconds; afterwards something keeps it out. */
const SEQUENCED_WITHIN_MS = 60_000;

interface Signed extends Checkpoint {
  readonly isOutside: boolean;
}

/** Verifies a log in one pass. Memory grows with the number of lanes only. */
export async function verifyLog(items: AsyncIterable<LogItem>, options: VerifyOptions): Promise<Verification> {
  const verifier = new LogVerifier(options);
  for await (const item of items) verifier.add(item);
  return verifier.finish();
}

class LogVerifier {
  readonly #options: VerifyOptions;
  readonly #tree = new CompactRange();
  readonly #heads = new Map<string, Head>();
  readonly #findings: Finding[] = [];
  /** Checkpoints kept outside, smallest first, that are larger than the tree. */
  readonly #expected: Signed[] = [];
  #unreadable = 0;
  #checkpoints = 0;
  /** The largest tree whose root a checkpoint confirmed. */
  #good = 0;
  /** Every later root differs, too. */
  #differs = false;
  #confirmed = 0;
  #waiting = 0;
  #overdue = 0;

  constructor(options: VerifyOptions) {
    this.#options = options;
    for (const note of options.outside) {
      const checkpoint = openCheckpoint(note, options.key);
      if (!checkpoint) this.#unreadable++;
      // Every log extends an empty one.
      else if (checkpoint.size > 0) this.#expected.push({ ...checkpoint, isOutside: true });
    }
    this.#expected.sort((one, other) => one.size - other.size);
  }

  add(item: LogItem): void {
    if (item.kind === "leaf") this.#addLeaf(item);
    else if (item.kind === "checkpoint") this.#addCheckpoint(item.note);
    else this.#addNew(item.entry);
  }

  finish(): Verification {
    const size = this.#tree.size;
    for (const { size: expected } of this.#expected) {
      this.#find("truncated", `A checkpoint kept outside has ${expected} entries; the log has ${size}.`);
    }
    const counts = { size, confirmed: this.#confirmed, waiting: this.#waiting, overdue: this.#overdue };
    return { verdict: this.#verdict(), findings: this.#findings, ...counts };
  }

  #verdict(): Verdict {
    if (this.#findings.length > 0) return 6;
    if (this.#unreadable > 0 || (this.#checkpoints === 0 && this.#confirmed === 0 && this.#tree.size > 0)) return 1;
    return this.#confirmed < this.#tree.size || this.#overdue > 0 ? 3 : 0;
  }

  #addLeaf({ index, hash, entry }: LogItem & { readonly kind: "leaf" }): void {
    const next = this.#tree.size;
    if (index > next) this.#find("removed", `Leaves ${next} to ${index - 1} are missing.`);
    if (index < next) this.#find("inserted", `Leaf ${index} is there twice.`);
    this.#tree.append(hash);
    if (entry) this.#addEntry(entry, hash, index);
    else this.#find("removed", `The entry of leaf ${index} is missing.`);
    while (this.#expected[0] && this.#expected[0].size <= this.#tree.size) {
      this.#compare(this.#expected.shift() as Signed);
    }
  }

  #addEntry(entry: StoredEntry, hash: Buffer, index: number): void {
    if (leafHash(entry.bytes, entry.mac).equals(hash)) {
      this.#checkEntry(entry, `leaf ${index}`);
      return;
    }
    this.#find("changed", `The entry of leaf ${index} was changed.`);
    const record = decodeRecord(entry.bytes);
    if (record) this.#follow(record, entry.mac, `leaf ${index}`);
  }

  #addNew(entry: StoredEntry): void {
    const record = this.#checkEntry(entry, "an entry that is in no leaf");
    if (record && record.at < this.#options.now - SEQUENCED_WITHIN_MS) this.#overdue++;
    else this.#waiting++;
  }

  #addCheckpoint(note: string): void {
    const checkpoint = openCheckpoint(note, this.#options.key);
    if (!checkpoint)
      return this.#find("invalid", `A checkpoint after leaf ${this.#tree.size - 1} is not signed by the key.`);
    this.#checkpoints++;
    if (checkpoint.size > this.#tree.size) {
      return this.#find("truncated", `A checkpoint has ${checkpoint.size} entries; the log has ${this.#tree.size}.`);
    }
    this.#compare({ ...checkpoint, isOutside: false });
  }

  #compare({ size, root, isOutside }: Signed): void {
    // The roots of earlier trees are not kept: a checkpoint comes after its last leaf.
    if (size !== this.#tree.size) return this.#find("reordered", `A checkpoint of ${size} entries is out of order.`);
    if (this.#tree.root().equals(root)) {
      this.#good = size;
      if (isOutside) this.#confirmed = size;
      return;
    }
    if (this.#differs) return;
    this.#differs = true;
    const where = isOutside ? "a checkpoint kept outside" : "its checkpoint";
    this.#find("changed", `Leaves ${this.#good} to ${size - 1} are not those of ${where}.`);
  }

  /** @returns the record, where it is readable. */
  #checkEntry({ bytes, mac, differing }: StoredEntry, where: string): AuditRecord | undefined {
    const record = decodeRecord(bytes);
    if (!record) {
      this.#find("invalid", `The bytes of ${where} are no entry.`);
      return undefined;
    }
    const name = `${where} (entry ${record.entryId})`;
    this.#checkMac(record, { bytes, mac }, name);
    if (differing) this.#find("changed", `Columns of ${name} are not those of its record: ${differing.join(", ")}.`);
    this.#follow(record, mac, name);
    return record;
  }

  #checkMac(record: AuditRecord, { bytes, mac }: SignedRecord, name: string): void {
    const key = this.#options.surfaces?.[record.surface];
    if (key && !isEqual(macOf(key, bytes), mac)) {
      this.#find("inserted", `The MAC of ${name} is not of ${record.surface}: it was inserted or changed.`);
    }
    if (!isOfSurface(record)) {
      this.#find("inserted", `${name} has the operation ${record.operation}, which ${record.surface} does not write.`);
    }
  }

  #follow({ place, previous }: AuditRecord, mac: Buffer, name: string): void {
    if (!place) return;
    const head = { ...place, mac };
    const last = this.#heads.get(head.lane);
    const expected = (last?.number ?? 0) + 1;
    const lane = `lane ${head.lane}`;
    if (head.number > expected)
      this.#find("removed", `Entries ${expected} to ${head.number - 1} of ${lane} are missing.`);
    else if (last && head.number === last.number)
      this.#find("forked", `Two entries are number ${head.number} of ${lane}.`);
    else if (head.number < expected) this.#find("reordered", `${name} comes after a later entry of ${lane}.`);
    else this.#checkLink(last, previous, name);
    if (head.number >= expected) this.#heads.set(head.lane, head);
  }

  /** The entry follows the last one of its lane, or it opens a lane. */
  #checkLink(last: Head | undefined, previous: Head | undefined, name: string): void {
    const before = last ?? (previous && this.#heads.get(previous.lane));
    if (!previous && !before) return;
    if (!previous || !before || before.number < previous.number) {
      return this.#find("removed", `The entry before ${name} is missing.`);
    }
    // A lane may have entries after the one that another lane continues: the outcome of a commit was unknown.
    const isNext = before.lane === previous.lane && before.number === previous.number;
    if (last ? !isNext || !before.mac.equals(previous.mac) : isNext && !before.mac.equals(previous.mac)) {
      this.#find("changed", `The entry before ${name} is not the one that it names.`);
    }
  }

  #find(kind: FindingKind, what: string): void {
    if (this.#findings.length < MAX_FINDINGS) this.#findings.push({ kind, what });
  }
}

const isEqual = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);
