/** Writes the section of `docs/architecture.md` that lists the wings of the server. */
import { WINGS } from "../boundaries/wings.ts";

const BEGIN = "<!-- Generated from tools/boundaries/wings.ts by `npm run generate`. -->";
const END = "<!-- End of what is generated. -->";

/** @param page the current page. @throws if the page lacks the markers. */
export function withLayoutSection(page: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from === -1 || to < from) throw new Error("docs/architecture.md lacks the markers of the generated section");
  return `${page.slice(0, from)}${BEGIN}\n\n${list()}\n\n${page.slice(to)}`;
}

function list(): string {
  const width = Math.max(...WINGS.map(({ name }) => name.length));
  const lines = WINGS.map(({ name, contents }) => `${name.padEnd(width)}  ${contents}`);
  return ["```", ...lines, "```"].join("\n");
}
