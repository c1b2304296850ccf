import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../pack/manifest.ts";

const GUIDE = join(ROOT, "docs/integrator-mobile.md");

/**
 * Writes named code blocks of the guide into an app, so that the guide's own code runs and no copy of it. The comment
 * in the first line of a block is its name.
 */
export function writeFromGuide(
  folder: string,
  names: readonly string[],
  change = (code: string): string => code,
): void {
  const guide = readFileSync(GUIDE, "utf8");
  const blocks = new Map(
    [...guide.matchAll(/```\w+\n(\/\/ (\S+)\n[\s\S]*?)```/g)].map(([, code, name]) => [name, code]),
  );
  for (const name of names) {
    const code = blocks.get(name);
    if (code === undefined) throw new Error(`${GUIDE} has no block that begins with // ${name}`);
    writeFileSync(join(folder, name), change(code));
  }
}
