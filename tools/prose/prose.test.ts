import { expect, test } from "vitest";
import { createLinter } from "./prose.ts";
import { TERMS } from "./terms.ts";

const lint = await createLinter();
const messagesOf = async (path: string, source: string): Promise<string[]> =>
  lint(path, source).map(({ line, message }) => `${line}: ${message}`);

test.each(TERMS.flatMap(({ avoid, write }) => avoid.map((phrase) => [phrase, write])))(
  "the phrase %j is reported with its replacement",
  async (phrase, write) => {
    expect(await messagesOf("page.md", `A text has ${phrase} in it.`)).toEqual([`1: "${phrase}": write ${write}`]);
  },
);

test("a phrase over two lines is reported", async () => {
  expect(await messagesOf("page.md", "It is\n\nlet go\nof.\n")).toEqual([
    '3: "let go of": write delete, drop, destroy',
  ]);
});

test("misspelt and American words are reported, but names and code are not", async () => {
  const text = "The colour of `unknwon` in `DRS_X`, readFile and file.json, 5xx, PostgreSQL's; a catalog.\n";
  expect(await messagesOf("page.md", text)).toEqual([]);
  expect(await messagesOf("page.md", `${text}\nThe color of an unknwon.\n`)).toEqual([
    '3: "color" is not in the dictionary',
    '3: "unknwon" is not in the dictionary',
  ]);
});

test("a table cell that is longer than a phrase is reported, unless the page is generated", async () => {
  const table = `| a | b |\n| --- | --- |\n| short | ${"word ".repeat(15)}|\n`;
  expect(await messagesOf("page.md", table)).toEqual(["3: a table cell of 15 words: move the text below the table"]);
  expect(await messagesOf("page.md", `<!-- Generated from a.ts. -->\n\n${table}`)).toEqual([]);
});

test.each([
  ["a.ts", 'const text = "anew"; // done anew\n/**\n * Begins\n *\n * anew.\n */\nconst anew = `anew`;\n'],
  ["a.kt", 'val text = "anew" // done anew\n/**\n * Begins\n *\n * anew.\n */\nval anew = 1\n'],
  ["a.sql", "select 'anew'; -- done anew\n/*\n * Begins\n *\n * anew.\n */\nselect anew;\n"],
  ["a.py", 'text = "anew"  # done anew\nif True:\n    # Begins\n    #\n    # anew.\n    anew()\n'],
  ["a.yml", "text: anew # done anew\nhere:\n  # Begins\n  #\n  # anew.\n  anew: true\n"],
  ["a.mm", 'auto text = @"anew"; // done anew\n/*\n * Begins\n *\n * anew.\n */\nanew();\n'],
])("comments of %s are checked, and its code is not", async (path, source) => {
  expect(await messagesOf(path, source)).toEqual(['1: "anew": write again', '5: "anew": write again']);
});

test("sentences in strings are checked for terms, but single words, quoted values and names in code are not", async () => {
  const source = [
    "test('it begins anew', () => {});",
    "const sql = `select outcome = 'anew'`;",
    'command.description("Begins `anew` or anew.").option("anew");',
    "print(`${name} has begun\nor begins anew in unknwon`);",
  ].join("\n");
  const again = (line: number): string => `${line}: "anew": write again`;
  expect(await messagesOf("a.ts", source)).toEqual([
    again(1),
    again(3),
    expect.stringContaining('4: "begun": write'),
    again(5),
  ]);
  expect(await messagesOf("a.tsx", 'export const a = <b title="It begins anew" />;')).toEqual([again(1)]);
});

test("a file without prose has no finding", async () => {
  expect(await messagesOf("a.json", '{ "anew": "anew" }')).toEqual([]);
});
