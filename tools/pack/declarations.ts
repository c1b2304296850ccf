import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./manifest.ts";

/**
 * Compiles a package file by file into `out/<package>/src`. The files of other packages that it uses are compiled into
 * folders next to `out/<package>`.
 */
export function compile(source: string, out: string, options: { readonly emitDeclarationOnly: boolean }): void {
  const folder = mkdtempSync(join(ROOT, "node_modules/.tsc-"));
  const project = join(folder, "tsconfig.json");
  const settings = {
    extends: join(source, "tsconfig.json"),
    compilerOptions: {
      ...options,
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(ROOT, "packages"),
      outDir: out,
      typeRoots: [join(ROOT, "node_modules/@types")],
    },
    include: [join(source, "src")],
    exclude: ["test", "fixture", "contract", "test-d"].map((kind) => join(source, `src/**/*.${kind}.ts*`)),
  };
  try {
    writeFileSync(project, JSON.stringify(settings));
    execFileSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", project], { stdio: ["ignore", "inherit", "inherit"] });
  } finally {
    rmSync(folder, { recursive: true });
  }
  rewriteSpecifiers(out, (specifier) => (specifier.startsWith(".") ? specifier.replace(/\.ts$/, ".js") : specifier));
}

/** Rewrites what the declarations below a folder import. */
export function rewriteSpecifiers(folder: string, rewrite: (specifier: string, file: string) => string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".d.ts")) continue;
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    const rewritten = text.replaceAll(
      /(\bfrom "|\bimport\(")([^"]+)"/g,
      (_, before: string, specifier: string) => `${before}${rewrite(specifier, file)}"`,
    );
    if (rewritten !== text) writeFileSync(file, rewritten);
  }
}
