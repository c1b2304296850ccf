/** Writes the section of `docs/architecture.md` that lists the wings of the server. */
import { WINGS } from "../boundaries/wings.ts";
import { withSection } from "./section.ts";

export const withLayoutSection = (page: string): string => withSection(page, "tools/boundaries/wings.ts", list());

function list(): string {
  const width = Math.max(...WINGS.map(({ name }) => name.length));
  const lines = WINGS.map(({ name, contents }) => `${name.padEnd(width)}  ${contents}`);
  return ["```", ...lines, "```"].join("\n");
}
