import { expect, it } from "vitest";
import { bundleOf, onlyInQuickJs } from "../bundle.fixture.ts";
import { computeInQuickJs } from "./quickjs.ts";

it("QuickJS keeps the results before the case that its deadline interrupts", async () => {
  const value = bundleOf("({ su }) => su.state === 'observed' ? su.value : null");
  const loop = bundleOf("() => { for (;;); }", { id: "loop" });
  const read = () => ({ state: "observed", value: true }) as const;
  const cases = [0, 1, 0].map((feature) => ({ feature, read }));
  const started = performance.now();
  expect(await computeInQuickJs([value, loop], cases, 1_000)).toMatchObject([
    { state: "observed", value: true },
    { state: "failed", failure: "time-limit" },
    { state: "failed", failure: "time-limit" },
  ]);
  expect(performance.now() - started, "far from the minute of a command").toBeLessThan(20_000);
});

it("QuickJS stops loading a program at its deadline", async () => {
  const endless = bundleOf(onlyInQuickJs("for (;;)"));
  await expect(computeInQuickJs([endless], [], 1_000)).rejects.toThrow("QuickJS can't load the program of example@1");
});

it("QuickJS is ended if one of its own functions does not return", async () => {
  const value = bundleOf("({ su }) => su.state === 'observed' ? su.value : null");
  const native = bundleOf("() => new Array(2 ** 32 - 1).includes(1)", { id: "native" });
  const read = () => ({ state: "observed", value: true }) as const;
  const cases = [0, 1].map((feature) => ({ feature, read }));
  const paused = { state: "failed", failure: "time-limit" };
  expect(await computeInQuickJs([value, native], cases, 100)).toMatchObject([paused, paused]);
});

it.each([
  ["recurses without end", "() => { const deep = () => 1 + deep(); return deep() > 0; }"],
  ["needs too much memory", "() => { const all = []; for (;;) all.push('x'.repeat(1e6) + all.length); }"],
])("QuickJS gives no value of a definition that %s", async (_, compute) => {
  const read = () => ({ state: "observed", value: true }) as const;
  const [result] = await computeInQuickJs([bundleOf(compute)], [{ feature: 0, read }], 10_000);
  expect(result).toMatchObject({ state: "failed" });
});

it("QuickJS gets texts with any separator of lines", async () => {
  const inputs = [{ name: "brand", path: ["hardware", "brand"], type: "string", sensitivity: "low" }] as const;
  const output = { type: "flag" } as const;
  const compute = "({ brand }) => brand.value === 'a\u2028\u2029\u0085b'";
  const read = () => ({ state: "observed", value: "a\u2028\u2029\u0085b" }) as const;
  const results = await computeInQuickJs([bundleOf(compute, { inputs, output })], [{ feature: 0, read }], 1_000);
  expect(results).toMatchObject([{ state: "observed", value: true }]);
});
