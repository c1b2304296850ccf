import { describe, expect, it } from "vitest";
import { FOLDERS } from "./folders.ts";
import { filesThatLoad, folderOf, importsBetweenFolders, sourceFiles } from "./imports.ts";

const allowed = new Map(FOLDERS.map(({ name, imports }) => [name, new Set(imports)]));
const imports = importsBetweenFolders();

describe("the folders of the server", () => {
  it("are the listed ones", () => {
    expect([...new Set(sourceFiles().map(folderOf))].toSorted()).toEqual(FOLDERS.map(({ name }) => name).toSorted());
  });

  it("have no cycle, because each names only folders above it", () => {
    const above = new Set<string>();
    for (const { name, imports: named } of FOLDERS) {
      expect(
        named.filter((other) => !above.has(other)),
        name,
      ).toEqual([]);
      above.add(name);
    }
  });

  it("import only what the list allows", () => {
    const forbidden = imports.filter(({ from, to }) => !allowed.get(from)?.has(to));
    expect(forbidden.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  it("load no feature code, except the commands, their operations and the code that computes features", () => {
    const loading = new Set(filesThatLoad("@device-risk-signals/features").map(folderOf));
    const permitted = /^(?:cli|admin\/operations|features)\b/;
    expect([...loading].filter((folder) => !permitted.test(folder))).toEqual([]);
    expect(loading).toContain("cli");
  });

  it("use every allowed import", () => {
    const used = new Set(imports.map(({ from, to }) => `${from} imports ${to}`));
    const named = FOLDERS.flatMap(({ name, imports: others }) => others.map((other) => `${name} imports ${other}`));
    expect(named.filter((edge) => !used.has(edge))).toEqual([]);
  });
});
