import { expect, it } from "vitest";
import { HASH_BYTES } from "../audit/log/merkle.ts";
import { includesLeaf, leafOf, LeafList } from "./leaves.ts";

const leaves = Array.from({ length: 1_000 }, (_, n) => leafOf(Buffer.from(String(n))));

it("leaves are sorted, and a search for one reads only few of them", async () => {
  const list = new LeafList();
  for (const leaf of leaves) list.add(leaf);
  const sorted = list.sorted();
  expect(sorted).toEqual(Buffer.concat(leaves.toSorted((one, other) => one.compare(other))));
  let reads = 0;
  const includes = (leaf: Buffer): Promise<boolean> =>
    includesLeaf(
      list.size,
      (offset, length) => {
        reads++;
        return sorted.subarray(offset, offset + length);
      },
      leaf,
    );
  for (const leaf of leaves) expect(await includes(leaf)).toBe(true);
  expect(await includes(leafOf(Buffer.from("another")))).toBe(false);
  for (const bound of [Buffer.alloc(HASH_BYTES), Buffer.alloc(HASH_BYTES, 255)])
    expect(await includes(bound)).toBe(false);
  expect(reads).toBeLessThan(leaves.length * 3);
});

it("an empty list has no leaf", async () => {
  expect(new LeafList().sorted().length).toBe(0);
  expect(await includesLeaf(0, () => Buffer.of(), Buffer.alloc(HASH_BYTES))).toBe(false);
});
