import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { build, type Rolldown } from "tsdown";
import { compile, rewriteSpecifiers } from "./declarations.ts";
import { type Manifest, published, ROOT } from "./manifest.ts";

type Plugin = Rolldown.Plugin;

const CONTRACT = "@device-risk-signals/contract";
const FORMATS = [
  { format: "esm", type: "module", condition: "import" },
  { format: "cjs", type: "commonjs", condition: "require" },
] as const;

/**
 * Writes one file for each entry and format. Each format has its own declarations, and contains the contract.
 * @returns the manifest to publish.
 */
export async function buildPackageFiles(
  source: string,
  target: string,
  manifest: Manifest,
): Promise<Partial<Manifest>> {
  const platformFiles = platformFilesOf(source);
  const entries = Object.entries(manifest.exports).filter(([, file]) => file.endsWith(".ts"));
  const entryNameOf = (entry: string): string => (entry === "." ? "index" : entry.slice(2));
  const types = mkdtempSync(join(tmpdir(), "drs-pack-"));
  try {
    for (const each of [source, join(ROOT, "packages/contract")]) compile(each, types, { emitDeclarationOnly: true });
    bringContractInside(types);
    for (const { format, type } of FORMATS) {
      const folder = join(target, "lib", format);
      const bundle = (entry: Record<string, string>, plugins: Plugin[] = []): Promise<unknown> =>
        build({
          cwd: source,
          config: false,
          logLevel: "warn",
          entry,
          plugins,
          clean: false,
          outDir: folder,
          outExtensions: () => ({ js: ".js" }),
          format,
          target: "es2020",
          platform: "neutral",
          dts: false,
          deps: { neverBundle: [/^react-native$/, /^node:/, /^expo/], alwaysBundle: [/^@device-risk-signals\//] },
        });
      const [main, others] = [entries.slice(0, 1), entries.slice(1)].map((some) =>
        Object.fromEntries(some.map(([entry, file]) => [entryNameOf(entry), file])),
      );
      // A bundle for apps leaves the choice of the platform's file to Metro. The builds for Jest and Node contain both
      // platforms.
      await bundle({ ...main }, [leaveToMetro(platformFiles)]);
      for (const [name, file] of Object.entries(platformFiles)) await bundle({ [name]: file });
      if (others && Object.keys(others).length > 0) await bundle(others);
      writeFileSync(join(folder, "package.json"), `${JSON.stringify({ type })}\n`);
      cpSync(types, join(folder, "types"), { recursive: true });
    }
  } finally {
    rmSync(types, { recursive: true });
  }
  const others = manifest.files.filter((file) => !file.startsWith("!") && file !== "lib");
  for (const file of others) copyPublished(source, target, file);
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([entry, file]) => [
      entry,
      file.endsWith(".ts") ? conditions(basename(source), entryNameOf(entry), file) : file,
    ]),
  );
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies ?? {}).filter(([dependency]) => dependency !== CONTRACT),
  );
  return {
    ...published(manifest),
    // The folder of each format has its own `type`. This `type` is for the other files, such as `app.plugin.js`.
    type: "commonjs",
    exports,
    dependencies,
    ...forOlderTools(
      basename(source),
      entries.map(([entry, file]) => [entryNameOf(entry), file] as const),
    ),
  } as unknown as Partial<Manifest>;
}

/** Finds the files that have a variant for a platform, and these variants. @returns their paths, by name. */
function platformFilesOf(source: string): Readonly<Record<string, string>> {
  const names = readdirSync(join(source, "src"), { recursive: true, encoding: "utf8" });
  const found = names.filter((name) => /\.(android|ios)\.ts$/.test(name));
  const files = found.flatMap((name) => [name, name.replace(/\.(android|ios)\.ts$/, ".ts")]);
  return Object.fromEntries([...new Set(files)].map((name) => [basename(name, ".ts"), `./src/${name}`]));
}

/**
 * Turns imports of these files into external imports without an extension, because Metro then looks for the platform's
 * file.
 */
function leaveToMetro(files: Readonly<Record<string, string>>): Plugin {
  return {
    name: "leave-to-metro",
    resolveId(specifier) {
      const name = basename(specifier, ".ts");
      return specifier.startsWith(".") && Object.hasOwn(files, name) ? { id: `./${name}`, external: true } : undefined;
    },
  };
}

/** The members of the manifest that name the entries and their types for tools that do not know `exports`. */
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

/** Replaces imports of the contract in declarations by the path of the contract's copy next to them. */
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
    filter: (path) => !/\.(test|fixture|test-d)\.[a-z]+$|\/(build|src\/test)(\/|$)/.test(`/${relative(source, path)}`),
  });
}
