import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CompactRange, consistencyRanges, hashRanges, inclusionRanges, leafHash, nodeHash } from "./merkle.ts";

/** Leaves and roots of the reference implementation of RFC 6962. */
const LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const ROOTS = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

const leaves = (count: number): Buffer[] => Array.from({ length: count }, (_, index) => leafHash(Buffer.from([index])));

function treeOf(hashes: readonly Buffer[]): CompactRange {
  const tree = new CompactRange();
  for (const hash of hashes) tree.append(hash);
  return tree;
}

async function* streamed(hashes: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* hashes;
}

const rootOf = (size: number): Buffer => treeOf(leaves(size)).root();

describe("the root of a tree", () => {
  it("equals that of the reference implementation of RFC 6962", () => {
    const hashes = LEAVES.map((leaf) => leafHash(Buffer.from(leaf, "hex")));
    for (const [size, root] of ROOTS.entries()) {
      expect(treeOf(hashes.slice(0, size)).root().toString("hex"), `of ${size} leaves`).toBe(root);
    }
  });

  it("is the same whether the tree grows from the roots of its perfect subtrees or from all leaves", () => {
    for (let size = 0; size <= 40; size++) {
      const before = treeOf(leaves(size));
      const tree = new CompactRange(size, before.roots);
      expect(tree.root()).toEqual(before.root());
      for (const hash of leaves(41).slice(size)) tree.append(hash);
      expect(tree.root()).toEqual(rootOf(41));
    }
  });
});

describe("an inclusion proof", () => {
  it("is accepted only for its leaf, index and tree", async () => {
    for (let size = 1; size <= 20; size++) {
      const hashes = leaves(size);
      for (const [index, leaf] of hashes.entries()) {
        const proof = await hashRanges(inclusionRanges(index, { start: 0, end: size }), streamed(hashes));
        expect(verifyInclusion(leaf, index, size, proof, rootOf(size)), `${index} of ${size}`).toBe(true);
        const other = leafHash(Buffer.from("other"));
        expect(verifyInclusion(other, index, size, proof, rootOf(size))).toBe(false);
        expect(verifyInclusion(leaf, index, size, proof, rootOf(size + 1))).toBe(false);
        expect(verifyInclusion(leaf, index, size, [...proof, other], rootOf(size))).toBe(false);
        expect(verifyInclusion(leaf, size, size, proof, rootOf(size))).toBe(false);
        if (size > 1) {
          expect(verifyInclusion(leaf, (index + 1) % size, size, proof, rootOf(size))).toBe(false);
          expect(verifyInclusion(leaf, index, size, proof.slice(1), rootOf(size))).toBe(false);
        }
      }
    }
  });
});

it("subtrees have the same hashes if the first leaves are represented by the roots of their subtrees", async () => {
  for (let size = 1; size <= 20; size++) {
    for (let from = 0; from < size; from++) {
      const before = { size: from, roots: treeOf(leaves(from)).roots };
      for (let index = from; index < size; index++) {
        const ranges = inclusionRanges(index, { start: 0, end: size });
        const whole = await hashRanges(ranges, streamed(leaves(size)));
        const rest = await hashRanges(ranges, streamed(leaves(size).slice(from)), before);
        expect(rest, `leaf ${index} of ${size}, from ${from}`).toEqual(whole);
      }
    }
  }
});

describe("a consistency proof", () => {
  const prove = (first: number, second: number): Promise<readonly Buffer[]> =>
    hashRanges(consistencyRanges(first, { start: 0, end: second }), streamed(leaves(second)));

  it("is accepted for every two trees of which one extends the other", async () => {
    for (let second = 1; second <= 20; second++) {
      for (let first = 1; first <= second; first++) {
        const proof = await prove(first, second);
        const [one, other] = [
          { size: first, root: rootOf(first) },
          { size: second, root: rootOf(second) },
        ];
        expect(verifyConsistency(one, other, proof), `${first} to ${second}`).toBe(true);
        const wrong = leafHash(Buffer.from("other"));
        expect(verifyConsistency({ ...one, root: wrong }, other, proof)).toBe(false);
        expect(verifyConsistency(one, { ...other, root: wrong }, proof)).toBe(false);
        expect(verifyConsistency(one, other, [...proof, wrong])).toBe(false);
        if (proof.length > 0) expect(verifyConsistency(one, other, proof.slice(1))).toBe(false);
      }
    }
  });

  it("is never accepted for a smaller tree after a larger one, or for trees of different histories", async () => {
    const proof = await prove(7, 12);
    expect(verifyConsistency({ size: 12, root: rootOf(12) }, { size: 7, root: rootOf(7) }, proof)).toBe(false);
    await fc.assert(
      fc.asyncProperty(fc.nat(6), async (changed) => {
        const other = leaves(12).map((hash, index) => (index === changed ? leafHash(hash) : hash));
        const forged = await hashRanges(consistencyRanges(7, { start: 0, end: 12 }), streamed(other));
        const second = { size: 12, root: treeOf(other).root() };
        expect(verifyConsistency({ size: 7, root: rootOf(7) }, second, forged)).toBe(false);
      }),
    );
  });
});

/** RFC 9162, section 2.1.3.2. */
function verifyInclusion(leaf: Buffer, index: number, size: number, proof: readonly Buffer[], root: Buffer): boolean {
  if (index >= size) return false;
  let [node, last, hash] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sibling, hash);
      [node, last] = skipRightEdge(node, last);
    } else {
      hash = nodeHash(hash, sibling);
    }
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 && hash.equals(root);
}

/** RFC 9162, section 2.1.4.2. */
function verifyConsistency(
  first: { readonly size: number; readonly root: Buffer },
  second: { readonly size: number; readonly root: Buffer },
  proof: readonly Buffer[],
): boolean {
  if (first.size > second.size || first.size === 0) return false;
  if (first.size === second.size) return proof.length === 0 && first.root.equals(second.root);
  const isPerfect = Number.isInteger(Math.log2(first.size));
  const [seed, ...siblings] = isPerfect ? [first.root, ...proof] : proof;
  if (!seed) return false;
  let [node, last] = [first.size - 1, second.size - 1];
  while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  let [of1, of2] = [seed, seed];
  for (const sibling of siblings) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      [of1, of2] = [nodeHash(sibling, of1), nodeHash(sibling, of2)];
      [node, last] = skipRightEdge(node, last);
    } else {
      of2 = nodeHash(of2, sibling);
    }
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 && of1.equals(first.root) && of2.equals(second.root);
}

/** A last node without a sibling moves up unchanged, until it has one. */
function skipRightEdge(node: number, last: number): [number, number] {
  let [at, end] = [node, last];
  while (at % 2 === 0 && at !== 0) [at, end] = [at / 2, Math.floor(end / 2)];
  return [at, end];
}
