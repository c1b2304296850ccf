import { describe, expect, it, test } from "vitest";
import { type LabelFormat, readLabels } from "./label-file.ts";
import { identityOf, labelOf } from "./labels.ts";
import { SeenLines } from "./seen-lines.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");

/** Gives the text in chunks of one byte. */
async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  for (const byte of Buffer.from(text)) yield Uint8Array.of(byte);
}

async function read(format: LabelFormat, text: string): Promise<unknown[]> {
  const rows = await Array.fromAsync(readLabels(format, chunksOf(text)));
  return rows.map((row) => ("problem" in row ? `${row.line}: ${row.problem}` : { ...row.cells, line: row.line }));
}

describe("a label file", () => {
  it("is CSV with quoted cells, in any order of columns", async () => {
    const text = '\uFEFFlabel,account,label_time\r\n"a ""b"", c\nd",é,2026-01-01\r\n\r\n1,two,2026-01-02\n';
    expect(await read("csv", text)).toEqual([
      { line: 2, label: 'a "b", c\nd', account: "é", label_time: "2026-01-01" },
      { line: 5, label: "1", account: "two", label_time: "2026-01-02" },
    ]);
  });

  it("may be JSON lines with a text, a number or a boolean as the label of each line", async () => {
    const text = '{"account":"a\u2028","label":true}\n\n{"event_id":null,"label":1}';
    expect(await read("jsonl", text)).toEqual([
      { line: 1, account: "a\u2028", label: "true" },
      { line: 3, label: "1" },
    ]);
  });

  it.each([
    ["csv", "", "1: there is no header"],
    ["csv", "account,score\n", "1: the header names"],
    ["csv", "account,account\n", "1: the header names"],
    ["csv", 'account\na"b\n', "2: quotes"],
    ["csv", 'account\n"a\n', "2: quotes"],
    ["csv", "account,label\na\n", "2: the row has 1 cells, the header 2"],
    ["csv", `account\n${"a".repeat(20_000)}\n`, "2: the row has more than"],
    ["jsonl", "[1]\n", "1: the row is not a JSON object"],
    ["jsonl", "{\n", "1: the row is not JSON"],
    ["jsonl", '{"__proto__":1}\n', "1: there is a member"],
    ["jsonl", '{"account":1}\n', "1: account is not a text"],
    ["jsonl", '{"label":{}}\n', "1: label is not a text"],
  ] as const)("of %s names what is wrong: %j", async (format, text, problem) => {
    expect((await read(format, text)).at(-1)).toContain(problem);
  });
});

describe("a label", () => {
  const GOOD = { account: "one", label_time: "2026-01-01T00:00:00+01:00", label: "fraud" };

  it("has a subject, a time and a label", () => {
    const subject = { kind: "account", account: "one" };
    const at = { epochMs: Date.parse("2025-12-31T23:00:00Z"), micros: 0 };
    const label = { subject, at, labelTime: GOOD.label_time, label: "fraud" };
    expect(labelOf(GOOD, NOW)).toEqual({ ok: true, label });
  });

  it.each([
    ["2026-01-01 00:00:00+01:00", "2025-12-31T23:00:00Z", 0],
    ["2026-01-01 00:00:00.123456789Z", "2026-01-01T00:00:00.123Z", 456],
  ])("may have a time as pandas writes it: %s", (label_time, iso, micros) => {
    const result = labelOf({ ...GOOD, label_time }, NOW);
    expect(result.ok && result.label).toMatchObject({
      labelTime: label_time,
      at: { epochMs: Date.parse(iso), micros },
    });
  });

  it.each([
    [{ label_time: "2026-01-01 00:00:00" }, "with an offset"],
    [{ label_time: "2026-01-01  00:00:00Z" }, "label_time is neither"],
    [{ label_time: "2026-01-01 00:00:00Z\n" }, "label_time is neither"],
    [{ label_time: "yesterday" }, "label_time is neither"],
    [{ label_time: "2026-02-30" }, "label_time is neither"],
    [{ label_time: "2026-06-02" }, "label_time is in the future"],
    [{ label: "" }, "label is empty"],
    [{ label: "=cmd()" }, "label is a formula"],
    [{ label: "@SUM(A1)" }, "label is a formula"],
    [{ label: "\n=cmd()" }, "label is a formula"],
    [{ account: "" }, "none of account"],
    [{ account: "a\0b" }, "account is not a name"],
    [{ event_id: "1" }, "event_id is not an id"],
    [{ action_id: "a", event_id: "01890a5d-ac96-774b-bcce-b302099a8057" }, "are both given"],
  ])("says what is wrong with %j", (cells, problem) => {
    const result = labelOf({ ...GOOD, ...cells }, NOW);
    expect(result.ok ? "" : result.problem).toContain(problem);
  });

  it.each(["-1", "+1.5", "-1e3"])("may be the number %s, which is not a formula", (label) => {
    expect(labelOf({ ...GOOD, label }, NOW)).toMatchObject({ ok: true });
  });

  it("equals another label about the same subject and instant", () => {
    const identities = ["2025-12-31T23:00:00Z", "2026-01-01T00:00:00+01:00", "2026-01-01"].map((label_time) => {
      const result = labelOf({ ...GOOD, label_time }, NOW);
      return result.ok ? identityOf(result.label) : undefined;
    });
    expect(identities[0]).toBe(identities[1]);
    expect(identities[0]).not.toBe(identities[2]);
  });
});

test("lines with the same text are found among many lines", () => {
  const seen = new SeenLines();
  const lines = Array.from({ length: 20_000 }, (_, index) => index + 1);
  expect(lines.filter((line) => seen.see(`text ${line}`, line) !== undefined)).toEqual([]);
  expect(seen.see("text 7", 20_001)).toBe(7);
  expect(seen.see("text 19999", 20_001)).toBe(19_999);
});
