import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { rankTests } from "./rank.ts";
import { guardsOf, switchOff } from "./switch-off.ts";

/** The guarded text after all guards that are marked in it were switched off. */
const without = (text: string): string | undefined =>
  guardsOf(text).reduce<string | undefined>((left, guard) => left && switchOff(left, guard), text);

it.each([
  ["(drop)", 'await query("x");\nnext();', ";\nnext();"],
  ["(drop)", "  // why\n\n  if (a) throw b;\n  next();", "  // why\n\n  ;\n  next();"],
  ["", "if (a) {\n  b();\n}", ";"],
  ["", "if (a) throw b;", "if (false) throw b;"],
  ["", "work(a);", ";"],
  ["(throw)", "a.forEach(b);", 'throw new Error("a guard is switched off");'],
  ["(true)", "if (a && b) c();", "if (true) c();"],
  ["(false)", "const x = a ? b : c;", "const x = false ? b : c;"],
  ["(false)", "return a || b;", "return false;"],
  ["(left)", "if (a && b) c();", "if (a) c();"],
  ["(right)", "return a ?? b;", "return b;"],
  ["(no-rows)", 'await query("delete from a where b", [c]);', 'await query("delete from a where false and b", [c]);'],
])("guard%s of %j leaves %j", (way, text, left) => {
  const [before, after] = [`async function work() {\n// guard${way}: a rule\n`, "\n}"];
  expect(without(before + text + after)).toBe(before + left + after);
});

it.each([
  ["(drop)", "  perform lock_holds();\n  next;", "  \n  next;"],
  ["", "  perform lock_holds();\n  next;", "  \n  next;"],
  ["", "where a = $1\n  and b;", "where (a = $1 or true)\n  and b;"],
  ["", "  or exists (select from a\n    where b) then", "  or (exists (select from a\n    where b) and false) then"],
  ["(true)", "and c.a <= now());", "and (c.a <= now() or true));"],
  ["(true)", "and a = $2`;", "and (a = $2 or true)`;"],
])("guard%s of the SQL %j leaves %j", (way, text, left) => {
  expect(without(`-- guard${way}: a rule\n${text}`)).toBe(`-- guard${way}: a rule\n${left}`);
});

it("an element and an operand that have several lines are guards", () => {
  const list = '[\n  "ü",\n// guard(drop): a rule\n  "b",\n  "c",\n];';
  const chain = "const a =\n  b &&\n// guard: a rule\n  (c || d) &&\n  e;";
  expect(without(list)).toBe(list.replace('  "b",', "  "));
  expect(without(chain)).toBe(chain.replace("c || d", "true"));
});

it.each([
  ["(drop)", ".catch(b);"],
  ["(true)", "work();"],
  ["(left)", "if (a) b();"],
  ["(remove)", "a();"],
  ["", "return a;"],
])("guard%s of %j is not tried", (way, text) => {
  expect(without(`function work() {\na()\n// guard${way}: a rule\n${text}\n}`)).toBeUndefined();
});

it("each marker of the sources that names a way can be switched off so", () => {
  const root = join(import.meta.dirname, "../..");
  const named = globSync("packages/*/{src,assembly}/**/*.{ts,sql}", { cwd: root }).flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return guardsOf(text).flatMap((guard) => (guard.way ? [{ path, text, guard }] : []));
  });
  expect(named).not.toEqual([]);
  const fails = named.filter(({ text, guard }) => [undefined, text].includes(switchOff(text, guard)));
  expect(fails.map(({ path, guard }) => `${path}:${guard.line}`)).toEqual([]);
});

it("tests that share rare words with a rule come first, then tests of the same folder", () => {
  const tests = new Map([
    ["packages/server/src/audit/log.test.ts", "an entry"],
    ["e2e/erasure.test.ts", "waiting for a hold"],
    ["packages/server/src/access/cases.test.ts", "an entry"],
  ]);
  const rank = rankTests(tests);
  const path = "packages/server/src/access/roles.ts";
  expect(rank(path, "an erasure waits for holds")[0]).toBe("e2e/erasure.test.ts");
  expect(rank(path, "an entry")[0]).toBe("packages/server/src/access/cases.test.ts");
});
