import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "../../packages/console/src");
/** Folders whose classes every screen may use. */
const SHARED = new Set(["app", "styles", "ui"]);

interface Named {
  readonly folder: string;
  readonly name: string;
  /** Whether the selector is the class alone. */
  readonly isAlone: boolean;
}

/** The classes in the selectors of a style sheet. */
function classesIn(folder: string, css: string): readonly Named[] {
  const selectors = css.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/^\s*([^{}@;]+)\{/gm);
  return [...selectors].flatMap(([, list = ""]) =>
    list.split(",").flatMap((selector) =>
      [...selector.matchAll(/\.([\w-]+)/g)].map(([one, name = ""]) => ({
        folder,
        name,
        isAlone: selector.trim() === one,
      })),
    ),
  );
}

/** Classes of a screen that the style sheets of another folder name as well. */
function sharedByAccident(named: readonly Named[]): readonly string[] {
  const owned = named.filter(({ isAlone, folder }) => isAlone && !SHARED.has(folder));
  const isElsewhere = (one: Named): boolean =>
    named.some(({ name, folder }) => name === one.name && folder !== one.folder);
  return [...new Set(owned.filter(isElsewhere).map(({ name }) => name))].toSorted();
}

test("a class that a screen of the console defines is named by no other screen: shared ones are in ui", () => {
  const named = globSync("**/*.css", { cwd: SOURCES }).flatMap((path) =>
    classesIn(basename(dirname(path)), readFileSync(join(SOURCES, path), "utf8")),
  );
  expect(named.length).toBeGreaterThan(300);
  expect(sharedByAccident(named)).toEqual([]);
});

test("a link with the class of a box of another screen is found", () => {
  const events = classesIn("events", "@layer screens {\n  .closed {\n    padding: 1rem;\n  }\n}\n");
  const shell = classesIn("app", "  .rail a.closed,\n  .rail a.open {\n    color: red;\n  }\n");
  expect(sharedByAccident([...events, ...shell])).toEqual(["closed"]);
});
