import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const IMPORT = /\b(?:from|import)\s*(["'])(?<named>[^"']+)\1|\b(?:import|require)\s*\(\s*(?<called>[^)]*)\)/g;

/**
 * The imports of a source file, as written. For a call of `import` or `require`, the item is the whole argument, so
 * that a computed name is found, too.
 */
function importsOf(source: string): string[] {
  return [...source.matchAll(IMPORT)].map(({ groups }) => String(groups?.["named"] ?? groups?.["called"]));
}

/** The package runs in Hermes, in browsers and in Node, so it may import only its own files. */
it("source files import only files of this package", () => {
  const root = import.meta.dirname;
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  const imports = files.flatMap((file) =>
    importsOf(readFileSync(join(root, file), "utf8")).map((name) => `${file}: ${name}`),
  );
  expect(files).toContain("index.ts");
  expect(imports).toContain("wire/validate.ts: ../pointer.ts");
  expect(imports.filter((line) => !/: \.{1,2}\/.+\.ts$/.test(line))).toEqual([]);
});

it("the check finds every form of import", () => {
  const source = `import a from "a"; import "b"; export * from 'c'; await import("d"); require(name); import type { F } from "node:f"`;
  expect(importsOf(source)).toEqual(["a", "b", "c", `"d"`, "name", "node:f"]);
});
