import { createHash } from "node:crypto";

/** The tree of RFC 6962, section 2.1: leaves and nodes are hashed with SHA-256 and different prefixes. */
const LEAF_PREFIX = Buffer.from([0]);
const NODE_PREFIX = Buffer.from([1]);
export const HASH_BYTES = 32;

/** @param parts the bytes of a leaf, in pieces. */
export function leafHash(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256").update(LEAF_PREFIX);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer =>
  createHash("sha256").update(NODE_PREFIX).update(left).update(right).digest();

/** The root of a tree without leaves. */
const EMPTY_TREE_HASH = createHash("sha256").digest();

/**
 * A tree to which leaves can be appended. Its state is as small as possible: the roots of its perfect subtrees, largest
 * first.
 */
export class CompactRange {
  #size: number;
  readonly #roots: Buffer[];

  /** @param roots the root of a perfect subtree for each 1 bit of `size`, largest subtree first. */
  constructor(size = 0, roots: readonly Buffer[] = []) {
    this.#size = size;
    this.#roots = [...roots];
  }

  get size(): number {
    return this.#size;
  }

  get roots(): readonly Buffer[] {
    return this.#roots;
  }

  append(leaf: Buffer): void {
    let hash = leaf;
    for (let size = this.#size; size % 2 === 1; size = Math.floor(size / 2)) {
      hash = nodeHash(this.#roots.pop() ?? EMPTY_TREE_HASH, hash);
    }
    this.#roots.push(hash);
    this.#size++;
  }

  root(): Buffer {
    return this.#roots.length === 0 ? EMPTY_TREE_HASH : this.#roots.reduceRight((right, left) => nodeHash(left, right));
  }
}

/** Leaves from `start` up to, not including, `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** The largest power of two below `size`. */
function splitOf(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/** The subtrees whose hashes are the inclusion proof of a leaf (RFC 6962, section 2.1.1). */
export function inclusionRanges(index: number, { start, end }: Range): readonly Range[] {
  if (end - start === 1) return [];
  const middle = start + splitOf(end - start);
  return index < middle
    ? [...inclusionRanges(index, { start, end: middle }), { start: middle, end }]
    : [...inclusionRanges(index, { start: middle, end }), { start, end: middle }];
}

/** The subtrees whose hashes prove that a tree extends the tree of the first `size` leaves (section 2.1.2). */
export function consistencyRanges(size: number, { start, end }: Range, isWhole = true): readonly Range[] {
  if (size === end) return isWhole ? [] : [{ start, end }];
  const middle = start + splitOf(end - start);
  return size <= middle
    ? [...consistencyRanges(size, { start, end: middle }, isWhole), { start: middle, end }]
    : [...consistencyRanges(size, { start: middle, end }, false), { start, end: middle }];
}

/** The leaves before an index, represented by the roots of their perfect subtrees. */
export interface Before {
  readonly size: number;
  readonly roots: readonly Buffer[];
}

/**
 * Hashes subtrees in one pass over the leaves.
 * @param leaves the hashes of all leaves from `before` on, in order.
 */
export async function hashRanges(
  ranges: readonly Range[],
  leaves: AsyncIterable<Buffer>,
  before: Before = { size: 0, roots: [] },
): Promise<readonly Buffer[]> {
  const hashes = ranges.map((range) => rangeBefore(range, before));
  let index = before.size;
  for await (const leaf of leaves) {
    ranges.forEach(({ start, end }, at) => {
      if (start <= index && index < end) hashes[at]?.append(leaf);
    });
    index++;
  }
  return hashes.map((range) => range.root());
}

/**
 * The part of a subtree that is represented by roots, because its leaves are not read. The leaves of each root are
 * either all inside the range of the subtree or all outside of it.
 */
function rangeBefore({ start, end }: Range, { size, roots }: Before): CompactRange {
  const within: Buffer[] = [];
  let at = 0;
  for (const root of roots) {
    if (start <= at && at < end) within.push(root);
    at += splitOf(size - at + 1);
  }
  return new CompactRange(Math.max(0, Math.min(end, size) - start), within);
}
