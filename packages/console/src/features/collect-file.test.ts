import { describe, expect, it } from "vitest";
import { collectFile, type Manifest } from "./collect-file.ts";

const HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

type Part = { readonly base64: string } | { readonly manifest: Manifest };

const manifestOf = (sha256: string): Part => ({ manifest: { file: { sha256, bytes: 5, rows: 1 } } as Manifest });

async function* partsOf(...parts: readonly Part[]): AsyncGenerator<Part> {
  yield* parts;
}

const collect = (...parts: readonly Part[]) => collectFile(partsOf(...parts), () => {});

describe("the file of an export", () => {
  it("is what its parts are together", async () => {
    const sizes: number[] = [];
    const parts = partsOf({ base64: btoa("he") }, { base64: btoa("llo") }, manifestOf(HELLO));
    const { file } = await collectFile(parts, (bytes) => sizes.push(bytes));
    expect([await file.text(), sizes]).toEqual(["hello", [2, 5]]);
  });

  it("is refused if it has other bytes than its manifest says, or no manifest", async () => {
    await expect(collect({ base64: btoa("hello!") }, manifestOf(HELLO))).rejects.toThrow("differs from its record");
    await expect(collect({ base64: btoa("hello") })).rejects.toThrow("ended before its end");
  });
});
