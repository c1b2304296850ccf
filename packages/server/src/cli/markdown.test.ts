import { expect, it } from "vitest";
import { code, codeOfName, plain, tableOf } from "./markdown.ts";

const HOSTILE = [
  "`",
  "``` ` ``",
  "a | b |",
  "<script>alert(1)</script>",
  "[text](https://evil.example)",
  "https://evil.example/?a=1&b=2",
  "@team #17 ![](x)",
  "\n\n# Heading\n\n| - |",
  "\\",
  "\\`",
  '"',
  " ",
  "\u2028\u202e",
];

it.each(HOSTILE)("a hostile text is one code span without a character that ends a cell: %j", (text) => {
  for (const span of [code(text), codeOfName(text), code([text]), code({ [text]: text })]) {
    expect(span).toMatch(/^`[^`|<>&\n\r]+`$/);
  }
});

it("a code span has the JSON of its value", () => {
  for (const value of [...HOSTILE, ["`"], { "<": 1 }, false, null, 1.5, ""]) {
    expect(JSON.parse(code(value).slice(1, -1))).toEqual(value);
  }
  expect(code(false)).toBe("`false`");
  expect(codeOfName("/probes/network")).toBe("`/probes/network`");
  expect(codeOfName("")).toBe('`""`');
});

it("a text of the catalog has no character with a meaning for Markdown", () => {
  expect(plain("a_b `c` <d> [e](f) | * \\")).toBe("a\\_b \\`c\\` \\<d\\> \\[e\\](f) \\| \\* \\\\");
});

it("a table has a line for its head, and one for each row", () => {
  expect(tableOf([{ a: "1", b: "2" }])).toEqual(["| a | b |", "| --- | --- |", "| 1 | 2 |"]);
});
