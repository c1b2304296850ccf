/** Hashes of attested rows, 32 bytes each. They are sorted, so that their order reveals nothing about events. */
import { CompactRange, HASH_BYTES, leafHash } from "../audit/log/merkle.ts";

/** The hash of one row: of its unsealed bytes, which include a salt. */
export const leafOf = (opened: Buffer): Buffer => leafHash(opened);

/** The root of leaves. @param leaves their hashes. */
export function rootOf(leaves: Buffer): Buffer {
  const range = new CompactRange();
  for (let at = 0; at < leaves.length; at += HASH_BYTES) range.append(leaves.subarray(at, at + HASH_BYTES));
  return range.root();
}

const FIRST_CAPACITY = 128;

/** Collects leaves in one block of memory. */
export class LeafList {
  #bytes = Buffer.alloc(FIRST_CAPACITY * HASH_BYTES);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(leaf: Buffer): void {
    const at = this.#size * HASH_BYTES;
    if (at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(at)]);
    leaf.copy(this.#bytes, at);
    this.#size++;
  }

  sorted(): Buffer {
    const bytes = this.#bytes;
    const compare = (one: number, other: number): number =>
      bytes.compare(bytes, other * HASH_BYTES, (other + 1) * HASH_BYTES, one * HASH_BYTES, (one + 1) * HASH_BYTES);
    const places = Uint32Array.from({ length: this.#size }, (_, place) => place).toSorted(compare);
    const sorted = Buffer.alloc(this.#size * HASH_BYTES);
    for (const [to, from] of places.entries()) {
      bytes.copy(sorted, to * HASH_BYTES, from * HASH_BYTES, (from + 1) * HASH_BYTES);
    }
    return sorted;
  }
}

/** Number of leaves that one read returns. */
const WINDOW = 256;

/**
 * Whether a leaf is among sorted leaves. Only a few windows of the leaves are read.
 * @param read returns this many bytes of the leaves from an offset; fewer at their end.
 */
export async function includesLeaf(
  count: number,
  read: (offset: number, length: number) => Buffer | Promise<Buffer>,
  leaf: Buffer,
): Promise<boolean> {
  let [low, high] = [0, Math.ceil(count / WINDOW)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const window = await read(middle * WINDOW * HASH_BYTES, WINDOW * HASH_BYTES);
    if (leaf.compare(window.subarray(0, HASH_BYTES)) < 0) high = middle;
    else if (leaf.compare(window.subarray(-HASH_BYTES)) > 0) low = middle + 1;
    else return isIn(window, leaf);
  }
  return false;
}

function isIn(window: Buffer, leaf: Buffer): boolean {
  for (let at = 0; at < window.length; at += HASH_BYTES) {
    if (leaf.equals(window.subarray(at, at + HASH_BYTES))) return true;
  }
  return false;
}
