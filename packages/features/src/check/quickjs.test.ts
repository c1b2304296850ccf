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
    { state: "failed", failure: "paused" },
    { state: "failed", failure: "paused" },
  ]);
  expect(performance.now() - started, "far from the minute of a command").toBeLessThan(20_000);
});

it("QuickJS stops loading a program at its deadline", async () => {
  const endless = bundleOf(onlyInQuickJs("for (;;)"));
  await expect(computeInQuickJs([endless], [], 1_000)).rejects.toThrow("QuickJS can't load the program of example@1");
});
