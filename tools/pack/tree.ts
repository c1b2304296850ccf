import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { compile } from "./declarations.ts";
import { type Manifest, published } from "./manifest.ts";

/** Each TypeScript file becomes JavaScript with declarations at the same path. All other published files are copied. */
export async function buildTree(source: string, target: string, manifest: Manifest): Promise<Partial<Manifest>> {
  const out = mkdtempSync(join(tmpdir(), "drs-pack-"));
  try {
    compile(source, out, { emitDeclarationOnly: false });
    cpSync(join(out, basename(source), "src"), join(target, "src"), { recursive: true });
  } finally {
    rmSync(out, { recursive: true });
  }
  for (const folder of ["bin", "schema", "src"]) {
    if (!existsSync(join(source, folder))) continue;
    for (const name of readdirSync(join(source, folder), { recursive: true, withFileTypes: true })) {
      if (!name.isFile() || name.name.endsWith(".ts") || /\.(fixture|snapshot)\b/.test(name.name)) continue;
      const path = join(name.parentPath, name.name);
      const copy = join(target, path.slice(source.length));
      cpSync(path, copy);
      // The file that starts the program is JavaScript already, but its imports name TypeScript files.
      if (folder === "bin")
        writeFileSync(copy, readFileSync(copy, "utf8").replaceAll(/(\.\/[\w./-]+)\.ts"/g, '$1.js"'));
    }
  }
  cpSync(join(source, "README.md"), join(target, "README.md"));
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([entry, file]) => [
      entry,
      file.endsWith(".ts") ? { types: file.replace(/\.ts$/, ".d.ts"), default: file.replace(/\.ts$/, ".js") } : file,
    ]),
  );
  return {
    ...published(manifest),
    exports,
    files: ["bin", "schema", "src", "README.md"],
  } as unknown as Partial<Manifest>;
}
