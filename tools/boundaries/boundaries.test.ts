import { describe, expect, it } from "vitest";
import { filesThatLoad, importsOfServer, sourceFiles, wingOf } from "./imports.ts";
import { WINGS } from "./wings.ts";

const allowed = new Map(WINGS.map(({ name, imports }) => [name, new Set(imports)]));
const imports = importsOfServer();
const betweenWings = imports.filter(({ file, imported }) => wingOf(file) !== wingOf(imported));
const sentence = ({ file, imported }: (typeof imports)[number]): string => `${file} imports ${imported}`;

describe("the wings of the server", () => {
  it("are the listed ones", () => {
    expect([...new Set(sourceFiles().map(wingOf))].toSorted()).toEqual(WINGS.map(({ name }) => name).toSorted());
  });

  it("have no cycle, because each names only wings above it", () => {
    const above = new Set<string>();
    for (const { name, imports: named } of WINGS) {
      expect(
        named.filter((other) => !above.has(other)),
        name,
      ).toEqual([]);
      above.add(name);
    }
  });

  it("import only what the list allows", () => {
    const forbidden = betweenWings.filter(({ file, imported }) => !allowed.get(wingOf(file))?.has(wingOf(imported)));
    expect(forbidden.map(sentence)).toEqual([]);
  });

  it("use every allowed import", () => {
    const used = new Set(betweenWings.map(({ file, imported }) => `${wingOf(file)} imports ${wingOf(imported)}`));
    const named = WINGS.flatMap(({ name, imports: others }) => others.map((other) => `${name} imports ${other}`));
    expect(named.filter((edge) => !used.has(edge))).toEqual([]);
  });

  it("load no feature code, except the commands and the code that computes features", () => {
    const loading = new Set(filesThatLoad("@device-risk-signals/features").map(wingOf));
    expect([...loading].toSorted()).toEqual(["cli", "features"]);
  });
});

it("the path of an event knows ports only", () => {
  const stages = imports.filter(({ file }) => /^ingest\/[^/]+$/.test(file));
  expect(stages).not.toEqual([]);
  const foreign = stages.filter(({ imported }) => !/^(?:base\/|ingest\/[^/]+$)/.test(imported));
  expect(foreign.map(sentence)).toEqual([]);
});
