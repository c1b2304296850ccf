import { describe, expect, it } from "vitest";
import { accountOf } from "./account.ts";

describe("the name of an account", () => {
  it.each(["a", "customer-1", "é", "\u{1F600}", "x".repeat(256), "\u{1F600}".repeat(256), "__proto__", " "])(
    "may be %j",
    (account) => {
      expect(accountOf(account)).toBe(account);
    },
  );

  it.each([
    ["empty", ""],
    ["too long", "x".repeat(257)],
    ["too long in code points", "\u{1F600}".repeat(257)],
    ["too long by one code point", `${"\u{1F600}".repeat(256)}x`],
    ["with U+0000", "a\0b"],
    ["half a pair", "a\ud800"],
    ["a number", 7],
    ["null", null],
    ["absent", undefined],
    ["a list", ["a"]],
    ["an object", { a: 1 }],
    ["true", true],
  ])("can't be %s", (_, value) => {
    expect(accountOf(value)).toBeUndefined();
  });
});
