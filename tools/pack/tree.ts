import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { copyPublished, type Manifest, mapExports } from "./manifest.ts";

/** The folder in which the server finds its pages. */
export const CONSOLE = "console";

const FILES = ["bin", "schema", "src", "README.md", CONSOLE];

/** Each TypeScript file becomes JavaScript with declarations at the same path. All other published files are copied. */
export async function buildTree(source: string, target: string, manifest: Manifest, compiled: string): Promise<object> {
  for (const file of FILES) copyPublished(source, target, file, /\.(?:ts|snapshot)$/);
  cpSync(join(compiled, basename(source), "src"), join(target, "src"), { recursive: true });
  // The file that starts the program is JavaScript already, but its imports name TypeScript files.
  for (const file of globSync(join(target, "bin/*"))) {
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(/(\.\/[\w./-]+)\.ts"/g, '$1.js"'));
  }
  const exports = mapExports(manifest, (_, file) => ({
    types: file.replace(/\.ts$/, ".d.ts"),
    default: file.replace(/\.ts$/, ".js"),
  }));
  return { exports, files: FILES };
}
