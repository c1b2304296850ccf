import { expect, it } from "vitest";
import { MarkerInvalid, readMarkers } from "./marker.ts";
import { switchOff } from "./switch-off.ts";

const markerOf = (kind: string, sign = "//"): string =>
  `${sign} guard(${kind}): a rule\n${sign} fails: e2e/a.test.ts › a test`;

/** The guarded text after all guards that are marked in it were switched off. */
const without = (text: string): string => readMarkers(text).reduce(switchOff, text);

it.each([
  ["drop", 'await query("x");\nnext();', ";\nnext();"],
  ["drop", "  // why\n\n  if (a) throw b;\n  next();", "  // why\n\n  ;\n  next();"],
  ["drop", "if (a) {\n  b();\n}", ";"],
  ["throw", "a.forEach(b);", 'throw new Error("a guard is switched off");'],
  ["true", "if (a && b) c();", "if (true) c();"],
  ["false", "const x = a ? b : c;", "const x = false ? b : c;"],
  ["false", "return a || b;", "return false;"],
  ["left", "if (a && b) c();", "if (a) c();"],
  ["right", "return a ?? b;", "return b;"],
  [
    "no-rows",
    'await query("delete from a where b = $1", [c]);',
    'await query("delete from a where false and b = $1", [c]);',
  ],
])("guard(%s) of %j leaves %j", (kind, text, left) => {
  const [before, after] = [`async function work() {\n${markerOf(kind)}\n`, "\n}"];
  expect(without(before + text + after)).toBe(before + left + after);
});

it("an element and an operand that have several lines are guards", () => {
  const list = `const a = [\n  "ü",\n${markerOf("drop")}\n  "b",\n  "c",\n];`;
  const chain = `const a =\n  b &&\n${markerOf("true")}\n  (c || d) &&\n  e;`;
  expect(without(list)).toBe(list.replace('  "b",', "  "));
  expect(without(chain)).toBe(chain.replace("c || d", "true"));
});

it.each([
  ["drop", "  perform lock_holds();\n  next;", "  \n  next;"],
  ["true", "where a = $1\n  and b;", "where (a = $1 or true)\n  and b;"],
  [
    "false",
    "  or exists (select from a\n    where b) then",
    "  or (exists (select from a\n    where b) and false) then",
  ],
  ["true", "and c.a <= now());", "and (c.a <= now() or true));"],
  ["true", "and a = $2`;", "and (a = $2 or true)`;"],
])("guard(%s) of the SQL %j leaves %j", (kind, text, left) => {
  const marker = `${markerOf(kind, "--")}\n`;
  expect(without(marker + text)).toBe(marker + left);
});

it.each([
  ["an unknown kind", "// guard(remove): a rule\n// fails: e2e/a.test.ts › a test\na();"],
  ["no test", "// guard(drop): a rule\na();"],
  ["no line to guard", "// guard(drop): a rule\n// fails: e2e/a.test.ts › a test\n"],
])("a marker with %s is reported", (_, text) => {
  expect(() => readMarkers(text)).toThrow(MarkerInvalid);
});

it.each([
  ["drop", ".catch(b);"],
  ["true", "work();"],
  ["left", "if (a) b();"],
])("guard(%s) that does not fit its line %j is reported", (kind, text) => {
  expect(() => without(`a()\n${markerOf(kind)}\n${text}`)).toThrow(MarkerInvalid);
});
