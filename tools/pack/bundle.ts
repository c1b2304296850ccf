import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { build } from "tsdown";
import { compile, rewriteSpecifiers } from "./declarations.ts";
import { type Manifest, published, ROOT } from "./manifest.ts";

const CONTRACT = "@device-risk-signals/contract";
const FORMATS = [
  { format: "esm", type: "module", condition: "import" },
  { format: "cjs", type: "commonjs", condition: "require" },
] as const;

/** One file an entry and format, each format with the declarations of its own, the contract inside. */
export async function buildBundle(source: string, target: string, manifest: Manifest): Promise<Partial<Manifest>> {
  const entries = Object.entries(manifest.exports).filter(([, file]) => file.endsWith(".ts"));
  const nameOf = (entry: string): string => (entry === "." ? "index" : entry.slice(2));
  const types = mkdtempSync(join(tmpdir(), "drs-pack-"));
  try {
    for (const each of [source, join(ROOT, "packages/contract")]) compile(each, types, { emitDeclarationOnly: true });
    bringContractInside(types);
    for (const { format, type } of FORMATS) {
      const folder = join(target, "lib", format);
      await build({
        cwd: source,
        config: false,
        logLevel: "warn",
        entry: Object.fromEntries(entries.map(([entry, file]) => [nameOf(entry), file])),
        outDir: folder,
        outExtensions: () => ({ js: ".js" }),
        format,
        target: "es2020",
        platform: "neutral",
        dts: false,
        deps: { neverBundle: [/^react-native$/, /^node:/, /^expo/], alwaysBundle: [/^@device-risk-signals\//] },
      });
      writeFileSync(join(folder, "package.json"), `${JSON.stringify({ type })}\n`);
      cpSync(types, join(folder, "types"), { recursive: true });
    }
  } finally {
    rmSync(types, { recursive: true });
  }
  const others = manifest.files.filter((file) => !file.startsWith("!") && existsSync(join(source, file)));
  for (const file of others) copyPublished(source, target, file);
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([entry, file]) => [
      entry,
      file.endsWith(".ts") ? conditions(basename(source), nameOf(entry), file) : file,
    ]),
  );
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies ?? {}).filter(([dependency]) => dependency !== CONTRACT),
  );
  return {
    ...published(manifest),
    // Each format's folder says its own; what lies beside them is loaded by tools that take CommonJS.
    type: "commonjs",
    exports,
    dependencies,
    ...forOlderTools(
      basename(source),
      entries.map(([entry, file]) => [nameOf(entry), file] as const),
    ),
  } as unknown as Partial<Manifest>;
}

/** What says the same to tools that know no `exports`. */
function forOlderTools(name: string, entries: readonly (readonly [name: string, file: string])[]): object {
  const typesOf = (file: string): string => `./lib/cjs/types/${name}/${file.slice(2).replace(/\.ts$/, ".d.ts")}`;
  const others = entries.filter(([entry]) => entry !== "index");
  return {
    main: "./lib/cjs/index.js",
    types: typesOf("./src/index.ts"),
    ...(others.length > 0 && {
      typesVersions: { "*": Object.fromEntries(others.map(([entry, file]) => [entry, [typesOf(file)]])) },
    }),
  };
}

function conditions(name: string, entry: string, file: string): Record<string, unknown> {
  return Object.fromEntries(
    FORMATS.map(({ format, condition }) => [
      condition,
      {
        types: `./lib/${format}/types/${name}/${file.slice(2).replace(/\.ts$/, ".d.ts")}`,
        default: `./lib/${format}/${entry}.js`,
      },
    ]),
  );
}

/** Declarations that name the contract name its copy beside them instead. */
function bringContractInside(types: string): void {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "packages/contract/package.json"), "utf8")) as Manifest;
  rewriteSpecifiers(types, (specifier, file) => {
    if (specifier !== CONTRACT && !specifier.startsWith(`${CONTRACT}/`)) return specifier;
    const entry = exports[`.${specifier.slice(CONTRACT.length)}`];
    if (!entry) throw new Error(`${specifier} is no entry of the contract`);
    const path = relative(dirname(file), join(types, "contract", entry)).replace(/\.ts$/, ".js");
    return path.startsWith(".") ? path : `./${path}`;
  });
}

function copyPublished(source: string, target: string, file: string): void {
  mkdirSync(dirname(join(target, file)), { recursive: true });
  cpSync(join(source, file), join(target, file), {
    recursive: true,
    filter: (path) => !/\.(test|fixture|test-d)\.[a-z]+$|\/(build|src\/test)(\/|$)/.test(path),
  });
}
