import { PROBE_IDS } from "@device-risk-signals/contract/catalog/fields";
import { describe, expect, it } from "vitest";
import { DECLARED_PACKAGES, DECLARED_SCHEMES } from "../judgement/declared-artefacts.ts";
import { type AndroidManifest, declareQueries } from "./android-manifest.ts";
import { declarationsFor, joinSchemes, MAX_SCHEMES } from "./declarations.ts";

const manifest = (): AndroidManifest => ({
  manifest: {
    $: { package: "app" },
    queries: [{ intent: [{ action: [] }], package: [{ $: { "android:name": "com.own.app" } }] }],
    application: [{ $: {}, "meta-data": [{ $: { "android:name": "own", "android:value": "1" } }] }],
  },
});

describe("the declarations of an app", () => {
  it("are exactly what the named probes need", () => {
    expect(declarationsFor(["transaction_safety", "hardware"])).toEqual({
      packages: DECLARED_PACKAGES["transaction_safety"],
      schemes: [],
      queryProbes: ["transaction_safety"],
    });
  });

  it("are those of the default probes, if no probe is named", () => {
    expect(declarationsFor().queryProbes).toEqual(["os_integrity"]);
    expect(declarationsFor().schemes).toEqual(DECLARED_SCHEMES["os_integrity"]);
  });

  it("stay within the limit of iOS, even if all probes are named", () => {
    expect(declarationsFor(["os_integrity", "media_bluetooth_apps"]).schemes.length).toBeLessThanOrEqual(MAX_SCHEMES);
  });

  it.each([
    ["os_integrity", "probes must be a list"],
    [{ probes: [] }, "probes must be a list"],
    [["hardware", "os_integrety"], 'no such probe: "os_integrety"'],
    [[1], "no such probe: 1"],
  ])("are rejected for %j with the plugin, the wrong probe and the valid ones", (probes, problem) => {
    expect(() => declarationsFor(probes)).toThrow(
      `@device-risk-signals/react-native: ${problem}; the probes are ${PROBE_IDS.join(", ")}`,
    );
  });
});

describe("an Android manifest", () => {
  it("keeps the app's own declarations, and gets the queries and the marker once", () => {
    const declarations = declarationsFor(["os_integrity"]);
    const once = declareQueries(manifest(), declarations);
    const queries = once.manifest.queries ?? [];
    expect(queries[0]?.["intent"]).toEqual([{ action: [] }]);
    expect(queries.flatMap((query) => query.package ?? []).map(({ $ }) => $["android:name"])).toEqual([
      "com.own.app",
      ...declarations.packages,
    ]);
    expect(once.manifest.application?.[0]?.["meta-data"]).toEqual([
      { $: { "android:name": "own", "android:value": "1" } },
      { $: { "android:name": "io.devicerisksignals.QUERIES", "android:value": "os_integrity" } },
    ]);
    const text = JSON.stringify(once);
    expect(JSON.stringify(declareQueries(once, declarations))).toBe(text);
  });

  it("stays as it is when the probes declare nothing", () => {
    expect(declareQueries(manifest(), declarationsFor(["hardware"]))).toEqual(manifest());
  });
});

describe("the URL schemes of an app", () => {
  it("are the app's own schemes, then those of the probes, each once", () => {
    expect(joinSchemes(["own", "sileo"], ["sileo", "zbra"])).toEqual(["own", "sileo", "zbra"]);
  });

  it("are rejected beyond the limit of iOS, with a message that has the numbers", () => {
    const own = Array.from({ length: 45 }, (_, index) => `own${index}`);
    const wanted = Array.from({ length: 6 }, (_, index) => `wanted${index}`);
    expect(() => joinSchemes(own, wanted)).toThrow(/would hold 51 schemes, and iOS considers only 50: 45 .* 6 /);
    expect(joinSchemes(own, wanted.slice(1))).toHaveLength(50);
  });
});
