import { createSecretKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { findNumbered, nextNumber, numberedIds } from "./numbered-ids.ts";
import { RowSigner } from "./row-signer.ts";

const signer = new RowSigner(createSecretKey(Buffer.alloc(32, 1)));
const ids = numberedIds(signer, "a series");

/** A search, in pages of three, among the rows with these numbers. */
function among(...stored: readonly number[]) {
  const rows = stored.map((number) => ids(number)).toReversed();
  const find = async (page: readonly string[]) => rows.filter((id) => page.includes(id));
  return { ids, page: 3, find, idOf: (id: string) => id };
}

describe("ids of a series", () => {
  it("are UUIDs, and differ between numbers and between series", () => {
    const other = numberedIds(signer, "another series");
    const made = [ids(0), ids(1), other(0), other(1)];
    expect(new Set(made).size).toBe(4);
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it("differ between two keys of the signer", () => {
    const other = new RowSigner(createSecretKey(Buffer.alloc(32, 2)));
    expect(numberedIds(other, "a series")(0)).not.toBe(ids(0));
  });
});

describe("a search by numbers", () => {
  it.each([
    [[], 0],
    [[0], 1],
    [[0, 1, 2], 3],
    [[0, 1, 2, 3, 4], 5],
    [[2, 4], 5],
  ])("finds %j in order, and %d is the next number", async (stored, next) => {
    expect((await findNumbered(among(...stored))).map(({ number }) => number)).toEqual(stored);
    expect(await nextNumber(among(...stored))).toBe(next);
  });

  it("ends after a page of ids that no row has", async () => {
    expect(await findNumbered(among(0, 6))).toHaveLength(1);
  });
});
