import fc from "fast-check";
import { expect, it } from "vitest";
import { byteLength } from "./byte-length.ts";

it("the byte length of a text is the length of its UTF-8 encoding", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(byteLength(text)).toBe(Buffer.byteLength(text));
    }),
  );
  expect(byteLength("aé€😀")).toBe(10);
});
