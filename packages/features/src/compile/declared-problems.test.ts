import { describe, expect, it } from "vitest";
import { bundleOf } from "../bundle.fixture.ts";
import type { ManifestInput } from "../manifest.ts";
import { manifestProblems, outdatedInputs } from "./declared-problems.ts";
import { resolveInput } from "./known-fields.ts";

const resolved = resolveInput("lat", "geolocation.latitude", { fields: [] });
const LATITUDE = (resolved.ok ? resolved.input : {}) as ManifestInput;
const { manifest } = bundleOf("() => 1", { inputs: [LATITUDE] });

describe("manifestProblems", () => {
  it("finds nothing in a manifest of the bundler", () => {
    expect(manifestProblems(manifest)).toEqual([]);
  });

  it.each<[string, Partial<ManifestInput>]>([
    ["a lower sensitivity", { sensitivity: "low" }],
    ["another type", { type: "string" }],
    ["another unit", { unit: "m" }],
    ["a platform on which it is a constant", { constantOn: ["ios"] }],
    ["a field that says whether the probe worked", { performedBy: "x" }],
  ])("rejects an input that differs from the catalog: %s", (_, change) => {
    expect(manifestProblems({ ...manifest, inputs: [{ ...LATITUDE, ...change }] })).toEqual([
      "the input lat is not as the catalog or the overlay declares it",
    ]);
  });

  it("rejects a field that is in neither catalog nor overlay, and two inputs with the same name", () => {
    const inputs = [LATITUDE, { ...LATITUDE, path: ["geolocation", "__proto__"] }];
    expect(manifestProblems({ ...manifest, inputs })).toEqual([
      "two inputs have the same name",
      expect.stringContaining("neither the catalog nor the overlay has it"),
    ]);
    const overlay = { fields: [{ path: ["new_probe", "found"], type: "boolean", sensitivity: "high" }] } as const;
    const added: ManifestInput = { name: "found", ...overlay.fields[0] };
    expect(manifestProblems({ ...manifest, inputs: [added] }, overlay)).toEqual([]);
    expect(manifestProblems({ ...manifest, inputs: [added] })).toHaveLength(1);
  });

  it("rejects an output that the runner does not know, and a manifest without texts", () => {
    const output = { type: "text" } as unknown as typeof manifest.output;
    expect(manifestProblems({ ...manifest, output, meaning: "", falseReadings: [] })).toHaveLength(3);
  });
});

describe("outdatedInputs", () => {
  const field = { path: ["new_probe", "ms"], type: "number", unit: "ms", sensitivity: "medium" } as const;
  const archived = { inputs: [LATITUDE, { name: "ms", ...field }] };

  it("finds nothing if the fields are still accepted, even with a lower sensitivity", () => {
    expect(outdatedInputs(archived, { fields: [field] })).toEqual([]);
    expect(outdatedInputs(archived, { fields: [{ ...field, sensitivity: "low" }] })).toEqual([]);
  });

  it("finds a field that is no longer accepted, or that has another type, another unit or a higher sensitivity", () => {
    const has = "has another type or unit, or a higher sensitivity";
    expect(outdatedInputs(archived, { fields: [] })).toEqual([expect.stringContaining("neither the catalog")]);
    for (const change of [{ type: "string" }, { unit: "s" }, { sensitivity: "high" }] as const) {
      expect(outdatedInputs(archived, { fields: [{ ...field, ...change }] })).toEqual([expect.stringContaining(has)]);
    }
  });
});
