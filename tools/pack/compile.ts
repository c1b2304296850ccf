import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./manifest.ts";

/**
 * Compiles packages, and the files that they use of others, into JavaScript and declarations: `packages/NAME/src` into
 * `out/NAME/src`.
 */
export function compile(names: readonly string[], out: string): void {
  const packages = join(ROOT, "packages");
  const folder = mkdtempSync(join(ROOT, "node_modules/.tsc-"));
  const settings = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: packages,
      outDir: out,
      typeRoots: [join(ROOT, "node_modules/@types")],
    },
    files: [join(packages, "react-native/react-native.d.ts")],
    include: names.map((name) => join(packages, name, "src")),
    exclude: ["test", "fixture", "contract", "test-d"].map((kind) => join(packages, `*/src/**/*.${kind}.ts*`)),
  };
  try {
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
    execFileSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder], { stdio: ["ignore", "inherit", "inherit"] });
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
