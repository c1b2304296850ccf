import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { contextWith } from "../../../../e2e/support/command.ts";
import type { Context } from "./context.ts";
import { relativeTime } from "./relative-time.ts";
import { printTable, type Table, type TableOptions } from "./table.ts";

const NOW = Date.parse("2027-01-31T08:00:00Z");

/** What a list prints; at a terminal if it has a width. */
function printed(
  rows: readonly object[],
  { width, table = { empty: "None." }, options = {}, isColoured = false }: Printing = {},
): string {
  let text = "";
  const sink = new Writable({ write: (chunk, _, done) => ((text += String(chunk)), done()) });
  Object.assign(sink, { isTTY: true, getColorDepth: () => (isColoured ? 8 : 1) });
  const context: Context = {
    ...contextWith({}, sink, sink),
    clock: { now: () => NOW },
    ...(width !== undefined && { isTerminal: true, width }),
  };
  printTable(context, rows, table, options);
  return text;
}

interface Printing {
  readonly width?: number;
  readonly table?: Table;
  readonly options?: TableOptions;
  readonly isColoured?: boolean;
}

const ESCAPE = "\u001b";

const ROWS = [
  { id: "one", reason: "a".repeat(60), opened_at: "2027-01-31T07:57:00.000Z", state: "open" },
  { id: "two", reason: "b".repeat(30), opened_at: "2027-02-02T08:00:00.000Z", state: "denied" },
];

describe("a table at a terminal", () => {
  it("cuts the widest columns, so that no row wraps", () => {
    const lines = printed(ROWS, { width: 50 }).split("\n");
    expect(lines[1]).toBe("one  aaaaaaaaaaaaaaaaaaaaaaaaa…  3 min ago  open");
    for (const width of [40, 50, 60, 80]) {
      for (const line of printed(ROWS, { width }).split("\n")) expect(line.length).toBeLessThanOrEqual(width);
    }
  });

  it("does not cut the column that a list names, so that the command at its end can be copied", () => {
    const command = `a decision: drs approval show ${"f".repeat(36)}`;
    const row = { kind: "approval", age: "5 minutes", started_by: "o".repeat(40), waits_for: command };
    const lines = printed([row], { width: 60, table: { empty: "None.", uncut: "waits_for" } }).split("\n");
    expect(lines[1]).toMatch(/^approval  5 minutes  o+…  a decision: drs approval show f{36}$/);
  });

  it("counts the columns that wide characters take", () => {
    const lines = printed([{ id: "日本語のアカウント", to: "x" }], { width: 16 }).split("\n");
    expect(lines[1]).toBe("日本語のア…   x");
  });

  it("shows relative times, and exact ones with --wide", () => {
    expect(printed(ROWS, { width: 200 })).toMatch(/3 min ago .*\n.* in 2 d /);
    expect(printed(ROWS, { width: 50, options: { wide: true } })).toContain(
      `${"a".repeat(60)}  2027-01-31T07:57:00.000Z`,
    );
  });

  it("shows the ids that commands take short by their last eight characters, but whole with --wide and elsewhere", () => {
    const id = "5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11";
    const table: Table = { empty: "None.", shortened: "id" };
    expect(printed([{ id, event_id: id }], { width: 80, table })).toBe(`id        event_id\n2f6f7c11  ${id}\n`);
    for (const options of [{ wide: true }, { json: true }, { output: "csv" } as const]) {
      expect(printed([{ id }], { width: 80, table, options })).toContain(id);
    }
    expect(printed([{ id }], { table })).toContain(id);
  });

  it("colours the head and bad states, unless the terminal has no colours, as with NO_COLOR", () => {
    const coloured = { width: 200, isColoured: true };
    expect(printed(ROWS, coloured)).toContain(`${ESCAPE}[1mid${ESCAPE}[22m `);
    expect(printed(ROWS, coloured)).toContain(`${ESCAPE}[31mdenied${ESCAPE}[39m`);
    expect(printed(ROWS, { width: 200 })).not.toContain(ESCAPE);
  });
});

describe("a list", () => {
  const table: Table = { empty: "None.", columns: ["id", "state"] };

  it("prints its default columns, uncut and with exact times if there is no terminal", () => {
    expect(printed(ROWS)).toContain(`${"a".repeat(60)}  2027-01-31T07:57:00.000Z  open`);
    expect(printed(ROWS, { table })).toBe("id   state\none  open\ntwo  denied\n");
    expect(printed([], { table })).toBe("None.\n");
  });

  it("prints a long value whole, and does not lengthen the other rows by it", () => {
    const rows = [
      { a: "x".repeat(100_000), b: "1" },
      { a: "y", b: "2" },
    ];
    for (const options of [{}, { wide: true }]) {
      const [, long, short] = printed(rows, { ...("wide" in options && { width: 80 }), options }).split("\n");
      expect([long?.length, short?.length]).toEqual([100_003, 203]);
    }
  });

  it("prints the columns of --columns, and with --wide all of them", () => {
    expect(printed(ROWS, { table, options: { columns: ["state"] } })).toBe("state\nopen\ndenied\n");
    expect(printed(ROWS, { table, options: { wide: true } })).toMatch(/^id +reason +opened_at +state\n/);
    expect(() => printed(ROWS, { table, options: { columns: ["nonsense"] } })).toThrow(
      'Unknown column "nonsense". The columns are id, reason, opened_at, state.',
    );
  });

  it("shows texts that were made from a row, before the members of the row", () => {
    const made: Table = { empty: "None.", columns: ({ id }: { id: string }) => ({ name: id.toUpperCase() }) };
    expect(printed(ROWS, { table: made })).toBe("name\nONE\nTWO\n");
    expect(printed(ROWS, { table: made, options: { wide: true } })).toMatch(/^name +id +reason +opened_at +state\n/);
  });

  it("prints the rows themselves as JSON, with --json and with -o json", () => {
    const json = ROWS.map((row) => `${JSON.stringify(row)}\n`).join("");
    expect(printed(ROWS, { table, options: { json: true } })).toBe(json);
    expect(printed(ROWS, { table, options: { output: "json" } })).toBe(json);
    const options = { json: true, columns: ["state"] };
    expect(printed(ROWS, { table, options }), "and nothing that was not asked for").toBe(
      '{"state":"open"}\n{"state":"denied"}\n',
    );
  });
});

describe("CSV", () => {
  const csv = (rows: readonly object[], options: TableOptions = {}): string =>
    printed(rows, { width: 40, table: { empty: "None.", columns: ["a"] }, options: { output: "csv", ...options } });

  it("has all columns under their names, exact values, and no line for an empty list", () => {
    expect(csv([{ a: "x, y", b: 'say "z"', closed_at: "2027-01-31T07:57:00.000Z", none: null, list: ["v", 1] }])).toBe(
      'a,b,closed_at,none,list\r\n"x, y","say ""z""",2027-01-31T07:57:00.000Z,,"[""v"",1]"\r\n',
    );
    expect(csv([{ a: 1, b: 2 }], { columns: ["b"] })).toBe("b\r\n2\r\n");
    expect(csv([])).toBe("");
  });

  it.each(["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "＝1", "＠SUM(1)"])(
    "quotes a text that a spreadsheet would run: %j",
    (text) => expect(csv([{ a: text }])).toMatch(/^a\r\n'/),
  );

  it("keeps a negative number, and one line for each row", () => {
    expect(csv([{ a: -1, b: "x\r\n=1" }])).toBe("a,b\r\n-1,x\\u000d\\u000a=1\r\n");
  });
});

it.each([
  [0, "now"],
  [59_000, "59 s ago"],
  [-60_000, "in 1 min"],
  [47 * 3_600_000, "47 h ago"],
  [-48 * 3_600_000, "in 2 d"],
  [400 * 86_400_000, "400 d ago"],
])("a time %d ms before now is shown as %s", (before, text) => {
  expect(relativeTime(NOW - before, NOW)).toBe(text);
});
