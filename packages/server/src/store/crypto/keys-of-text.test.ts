import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keysOfText } from "./keys-of-text.ts";

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const lineEnd = fc.constantFrom("\n", "\r\n", " \n");

describe("a text of keys", () => {
  it("has one key per line, with LF, CRLF or blanks at the end", () => {
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), lineEnd, fc.boolean(), (keys, end, isEnded) => {
        const text = keys.map((one) => one.toString("base64")).join(end) + (isEnded ? end : "");
        expect(keysOfText(text)).toEqual({ value: keys });
      }),
    );
  });

  it("that contains anything else gives no key, and a problem that quotes nothing of it", () => {
    const { problem } = keysOfText("") as { problem: string };
    const other = fc.oneof(fc.string({ minLength: 1 }), fc.base64String({ minLength: 4 })).filter((text) => {
      return text.trim() !== "" && Buffer.from(text, "base64").length !== 32;
    });
    fc.assert(
      fc.property(key, other, fc.boolean(), (good, bad, isFirst) => {
        const lines = [good.toString("base64"), bad];
        expect(keysOfText((isFirst ? lines : lines.toReversed()).join("\n"))).toEqual({ problem });
      }),
    );
  });
});
