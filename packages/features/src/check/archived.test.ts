import { expect, it } from "vitest";
import { bundleOf, onlyInQuickJs } from "../bundle.fixture.ts";
import { checkArchived, failedFixtures, fixtureProblems } from "./archived.ts";

const BUNDLE = bundleOf("({ su }) => su.state === 'observed' ? su.value : null");
const expecting = (observed: boolean) => ({
  cases: [{ name: "found", inputs: { su: { observed: true } }, result: { observed } }],
});

it("checkArchived computes the fixtures, and the cases that are derived from them, on two engines", async () => {
  const { cases, problems } = await checkArchived(BUNDLE, expecting(true));
  expect(problems).toEqual([]);
  expect(cases).toBeGreaterThan(1);
});

it("an archived program that gives another result than its fixtures is a problem", async () => {
  const { problems } = await checkArchived(BUNDLE, expecting(false));
  expect(problems).toEqual(['example@1: found: expected {"observed":false}, the result is {"observed":true}']);
});

it("a program whose result depends on earlier events is a problem", async () => {
  const compute =
    "(() => { let seen = false; return ({ su }) => " +
    "{ if (su.state !== 'observed') { seen = true; return null; } return seen ? !su.value : su.value; } })()";
  const { problems } = await checkArchived(bundleOf(compute), expecting(true));
  expect(problems).toEqual([
    'example@1: found: the result is {"observed":true}, and {"observed":false} after other cases: the definition keeps state between events',
  ]);
});

it("a program that is too slow in V8 is a problem, and QuickJS does not start it", async () => {
  const { problems } = await checkArchived(
    bundleOf("() => { for (let n = 0; n < 5e8; n++); return true; }"),
    expecting(true),
  );
  expect(new Set(problems.map((problem) => problem.split(": ").at(-1)))).toEqual(
    new Set(["V8 does not finish the feature in time"]),
  );
});

it.each([
  [
    "throws",
    "() => { throw new Error('x'); }",
    'every input is timeout: expected "timeout", the result is "failed:threw"',
  ],
  ["does not end", "() => { for (;;); }", "every input is timeout: V8 does not finish the feature in time"],
  ["invents a value", "() => true", 'every input is timeout: expected "timeout", the result is {"observed":true}'],
])("a bundle without fixtures that %s is a problem", async (_, compute, problem) => {
  expect(await failedFixtures([bundleOf(compute)])).toContain(`example@1: ${problem}`);
});

it("a bundle without fixtures that gives the state of its inputs is no problem", async () => {
  expect(await failedFixtures([BUNDLE])).toEqual([]);
});

it.each([
  ["V8", "import('node:fs')", 'the program of example@1 contains the word "import"'],
  ["QuickJS", onlyInQuickJs("throw null"), "QuickJS can't load the program of example@1, or not in time"],
])("a program that %s does not load is a problem", async (_, compute, problem) => {
  expect(await checkArchived(bundleOf(compute), expecting(true))).toMatchObject({ problems: [problem] });
});

it("fixtures are a problem if there are too many for the derived cases", () => {
  const inputs = BUNDLE.manifest.inputs.flatMap((input) =>
    Array.from({ length: 40 }, (_, n) => ({ ...input, name: `input_${n}` })),
  );
  const cases = Array.from({ length: 13 }, () => ({ inputs: { "*": "timeout" }, result: "timeout" }));
  expect(fixtureProblems({ ...BUNDLE.manifest, inputs }, { cases })).toEqual([
    "13 fixtures; a feature with these inputs may have 12",
  ]);
  expect(fixtureProblems({ ...BUNDLE.manifest, inputs }, { cases: cases.slice(1) })).toEqual([]);
});

it("fixtures are a problem if their texts are too long for the derived cases", () => {
  const inputs = BUNDLE.manifest.inputs.map((input) => ({ ...input, type: "string" }) as const);
  const withText = (length: number): unknown => ({
    cases: [{ name: "long", inputs: { su: { observed: "x".repeat(length) } }, result: { observed: true } }],
  });
  expect(fixtureProblems({ ...BUNDLE.manifest, inputs }, withText(1_000_000))).toHaveLength(1);
  expect(fixtureProblems({ ...BUNDLE.manifest, inputs }, withText(100_000))).toEqual([]);
});

it.each([null, {}, { cases: [null] }, { cases: [{ inputs: { other: "timeout" } }] }])(
  "fixtures that do not fit the feature are a problem: %j",
  (fixtures) => {
    expect(fixtureProblems(BUNDLE.manifest, fixtures)).not.toEqual([]);
  },
);
