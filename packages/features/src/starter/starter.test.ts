/** The starter features on the simulated phones of the SDK. */
import { fileURLToPath } from "node:url";
import type { Platform } from "@device-risk-signals/contract/catalog/declare";
import { sampleEvent, type Scenario, SCENARIOS } from "@device-risk-signals/react-native/jest";
import { beforeAll, expect, it } from "vitest";
import type { Bundle } from "../manifest.ts";
import { buildFeatures } from "../compile/build-features.ts";
import { type ReadInput, readEvent } from "../readings/readings.ts";
import type { Result } from "../result.ts";
import { openRunner } from "../runner/runner.ts";

let bundles: readonly Bundle[] = [];
type Results = ReadonlyMap<string, Result>;
const byScenario = new Map<Scenario, Results>();

beforeAll(async () => {
  const { features } = await buildFeatures(fileURLToPath(new URL(".", import.meta.url)));
  bundles = features.map(({ bundle }) => bundle);
  const runner = await openRunner(bundles);
  const events = await Promise.all(
    SCENARIOS.map(async (scenario) => {
      const { probes } = JSON.parse(JSON.stringify(await sampleEvent({ scenario }))) as {
        readonly probes: Readonly<Record<string, unknown>>;
      };
      const platform: Platform = scenario.endsWith("ios") ? "ios" : "android";
      return readEvent({ platform, probes });
    }),
  );
  const computed = await runner.run(events);
  await runner.close();
  for (const [at, scenario] of SCENARIOS.entries()) {
    const results = computed.events[at] ?? [];
    byScenario.set(scenario, new Map(features.map(({ bundle }, feature) => [bundle.id, results[feature] as Result])));
  }
});

const resultsOf = (scenario: Scenario): Results => byScenario.get(scenario) as Results;
const valueOf = (scenario: Scenario, id: string): unknown => {
  const result = resultsOf(scenario).get(id);
  return result?.state === "observed" ? result.value : result?.state;
};

it.each(["root_traces", "hook_traces", "emulator_traces"])("%s counts nothing on a clean phone", (id) => {
  expect([valueOf("clean-android", id), valueOf("clean-ios", id)]).toEqual([0, 0]);
});

it.each([
  ["root_traces", "rooted-android"],
  ["jailbreak_traces", "jailbroken-ios"],
  ["emulator_traces", "emulator-android"],
  ["emulator_traces", "simulator-ios"],
  ["hook_traces", "hooked-android"],
  ["frida_traces", "hooked-android"],
] as const)("%s counts traces on %s", (id, scenario) => {
  expect(valueOf(scenario, id)).toBeGreaterThan(0);
});

it("a feature of one platform has no value on the other platform", () => {
  expect(valueOf("clean-android", "jailbreak_traces")).toBe("omitted");
  expect(valueOf("clean-ios", "boot_state")).toBe("omitted");
  expect(valueOf("clean-ios", "developer_options")).toBe("not-observed");
});

it("each feature has a value on a phone that fills all fields, and no feature fails on any phone", () => {
  const hasValue = (id: string): boolean =>
    (["full-android", "full-ios"] as const).some((scenario) => resultsOf(scenario).get(id)?.state === "observed");
  expect([...resultsOf("full-android").keys()].filter((id) => !hasValue(id))).toEqual([]);
  const failed = [...byScenario.values()].flatMap((results) =>
    [...results.values()].filter(({ state }) => state === "failed"),
  );
  expect(failed).toEqual([]);
});

it("no feature has a value on a phone where consent was denied, or where all probes timed out or failed", () => {
  for (const scenario of ["consent-denied", "timeouts", "errors"] as const) {
    expect([...resultsOf(scenario).values()].filter(({ state }) => state === "observed")).toEqual([]);
  }
  expect(new Set([...resultsOf("consent-denied").values()].map(({ state }) => state))).toEqual(new Set(["skipped"]));
});

it("no feature is slow on texts and lists that are as long as an event may be", async () => {
  const runner = await openRunner(bundles);
  for (const character of [",", "A", "1"]) {
    const text = character.repeat(131_072);
    const values = {
      string: text,
      "string[]": Array.from({ length: 32_768 }, () => character),
      number: 1,
      boolean: true,
    };
    const readLong: ReadInput = ({ type }) => ({
      state: "observed",
      value: (values as Readonly<Record<string, unknown>>)[type],
    });
    await runner.run([readLong]);
  }
  const [last = []] = (await runner.run([() => ({ state: "timeout" })])).events;
  await runner.close();
  expect(bundles.filter((_, feature) => last[feature]?.state === "failed").map(({ id }) => id)).toEqual([]);
});
