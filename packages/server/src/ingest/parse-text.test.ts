import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseText, parseTextInTurns } from "./parse-text.ts";
import { readJson, TextError } from "../base/json/read-json.ts";

const RUNS = { numRuns: 2_000 };

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Texts that are JSON except for at most one character, which was inserted, removed or replaced. */
const nearlyJson = fc
  .tuple(
    fc.oneof(
      fc.json({ maxDepth: 3, stringUnit: "grapheme" }),
      fc.constantFrom('{"a":[1.5e+3,-0,true,{"b":null}],"c":"x\\u00e9\\n"}', '[[],{},"",0.1,false]', '{"a":1,"a":2}'),
    ),
    fc.nat(),
    fc.constantFrom(...'{}[],:"\\ntfu0-.eE+/ \t\u0001\u00a0\ufeff', ""),
    fc.nat({ max: 1 }),
  )
  .map(([text, place, character, removed]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + character + text.slice(at + removed);
  });

describe("readJson", () => {
  it("reports invalid JSON for each text that JSON.parse rejects, and for no other text", () => {
    fc.assert(
      fc.property(nearlyJson, (text) => {
        const read = readJson(text);
        if (!isJson(text)) expect(read).toBeInstanceOf(TextError);
        else if (read instanceof TextError) expect(read.code).not.toBe("json-invalid");
        else expect(read).toEqual(JSON.parse(text));
      }),
      RUNS,
    );
  });

  it.each([
    "",
    " ",
    "01",
    "1.",
    ".5",
    "-",
    "+1",
    "1e",
    "tru",
    "nulll",
    '"',
    '"\\',
    '"\\x"',
    '"\t"',
    "[1,]",
    '{"a":1,}',
  ])("rejects %j", (text) => {
    expect(readJson(text)).toMatchObject({ code: "json-invalid" });
  });
});

describe("a large text", () => {
  const space = " ".repeat(70_000);

  it("gives the same value or error as when it is read in one turn", async () => {
    await fc.assert(
      fc.asyncProperty(nearlyJson, async (text) => {
        const bytes = Buffer.from(space + text);
        expect(await parseTextInTurns(bytes)).toEqual(parseText(bytes));
      }),
      { numRuns: 300 },
    );
  });

  it("lets other work run many times while it is read", async () => {
    const members = Array.from({ length: 20_000 }, (_, index) => `"m${index}":0`).join(",");
    const bytes = Buffer.from(`{${members}}`);
    let turns = 0;
    let isRead = false;
    const count = (): void => {
      turns++;
      if (!isRead) setImmediate(count);
    };
    setImmediate(count);
    const value = await parseTextInTurns(bytes);
    isRead = true;
    expect(value).toEqual(JSON.parse(bytes.toString()));
    expect(turns).toBeGreaterThan(20);
  });
});
