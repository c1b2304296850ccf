/** Writes the section of CONTRIBUTING.md that lists and draws the folders of the server. */
import { type Folder, FOLDERS } from "../boundaries/folders.ts";

const BEGIN = "<!-- Generated from tools/boundaries/folders.ts by `npm run generate`. -->";
const END = "<!-- End of what is generated. -->";

/** @param page the current page. @throws if the page lacks the markers. */
export function withLayoutSection(page: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from === -1 || to < from) throw new Error("CONTRIBUTING.md lacks the markers of the generated section");
  return `${page.slice(0, from)}${BEGIN}\n\n${list()}\n\n${drawing()}\n\n${page.slice(to)}`;
}

function list(): string {
  const width = Math.max(...FOLDERS.map(({ name }) => name.length));
  const lines = FOLDERS.map(({ name, purpose }) => `${name.padEnd(width)}  ${purpose}`);
  return ["```", ...lines, "```"].join("\n");
}

/**
 * Leaves out an arrow if a path of other arrows leads to the same folder. Such a path does not permit an import: only
 * the list of folders says what a folder may import.
 */
function drawing(): string {
  const arrows = FOLDERS.flatMap((folder) =>
    direct(folder).map((other) => `  ${idOf(folder.name)} --> ${idOf(other)}`),
  );
  const nodes = FOLDERS.map(({ name }) => `  ${idOf(name)}["${name}"]`);
  return ["```mermaid", "flowchart TB", ...nodes, ...arrows, "```"].join("\n");
}

const idOf = (name: string): string => name.replaceAll(/\W/g, "_");

function direct({ imports }: Folder): readonly string[] {
  const further = new Set(imports.flatMap((name) => reachableFrom(name)));
  return imports.filter((name) => !further.has(name));
}

function reachableFrom(name: string): readonly string[] {
  const imports = FOLDERS.find((folder) => folder.name === name)?.imports ?? [];
  return [...imports, ...imports.flatMap(reachableFrom)];
}
