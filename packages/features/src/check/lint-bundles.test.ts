import { expect, it } from "vitest";
import { bundleOf } from "../bundle.fixture.ts";
import { lintBundles } from "./lint-bundles.ts";

const nested = (depth: number, open: string, inner: string, close = ""): string =>
  `() => ${open.repeat(depth)}${inner}${close.repeat(depth)}`;

it.each([
  ["parentheses", nested(20_000, "(", "true", ")")],
  ["arrays", nested(20_000, "[", "", "]")],
  ["conditions", nested(20_000, "true ? 1 : ", "1")],
  ["negations", nested(400_000, "!", "1")],
  ["sums", nested(400_000, "1+", "1")],
  ["members", nested(400_000, "a.", "a")],
  ["branches", `() => {${"if (1) {} else ".repeat(50_000)}{}}`],
])("a program of nested %s is a finding, and ends no process but that of the lint", async (_, compute) => {
  expect(await lintBundles([bundleOf(compute)])).toEqual([
    expect.stringMatching(/^example@1: (the lint can't read its program|its program .* nests too deeply)/),
  ]);
});

it("programs that take too long together are a finding", async () => {
  // Each takes about half a second, and on a machine that is ten times faster all take longer than the limit, too.
  const slow = [..."abcdefghijklmnopqrstuvwxyz"].map((letter) =>
    bundleOf(`() => /^(${letter}|${letter}${letter})+$/.test("")`),
  );
  const findings = await lintBundles(slow, 1_200);
  expect(findings.at(-1)).toContain("not in time");
});

it("a text that is no program is a finding, and so are those of the programs after it", async () => {
  const bundles = [bundleOf("() => {"), bundleOf("() => Date.now()", { id: "clock" })];
  const findings = ["example@1: its program is not JavaScript", "clock@1: `Date` does not exist"];
  expect(await lintBundles(bundles)).toEqual(findings.map((text) => expect.stringContaining(text) as string));
});
