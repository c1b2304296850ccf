import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build, type Rolldown } from "tsdown";
import { rewriteSpecifiers } from "./compile.ts";
import { copyPublished, type Manifest, manifestOf, mapExports } from "./manifest.ts";

const CONTRACT = "@device-risk-signals/contract";
const FORMATS = [
  { format: "esm", type: "module", condition: "import" },
  { format: "cjs", type: "commonjs", condition: "require" },
] as const;

const nameOf = (entry: string): string => (entry === "." ? "index" : entry.slice(2));

/**
 * Writes one file for each entry and format. Each format has its own declarations, and contains the contract.
 * @returns members of the manifest to publish.
 */
export async function buildBundle(
  source: string,
  target: string,
  manifest: Manifest,
  compiled: string,
): Promise<object> {
  const name = basename(source);
  const platformFiles = platformFilesOf(source);
  const [main, ...others] = Object.entries(manifest.exports)
    .filter(([, file]) => file.endsWith(".ts"))
    .map(([entry, file]) => [nameOf(entry), file] as const);
  for (const { format, type } of FORMATS) {
    const folder = join(target, "lib", format);
    const bundle = (entry: Record<string, string>, plugins: Rolldown.Plugin[] = []): Promise<unknown> =>
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
    // A bundle for apps leaves the choice of the platform's file to Metro. The builds for Jest and Node contain both
    // platforms.
    if (main) await bundle(Object.fromEntries([main]), [leaveToMetro(platformFiles)]);
    for (const [file, path] of Object.entries(platformFiles)) await bundle({ [file]: path });
    if (others.length > 0) await bundle(Object.fromEntries(others));
    writeFileSync(join(folder, "package.json"), `${JSON.stringify({ type })}\n`);
    for (const each of [name, "contract"]) {
      cpSync(join(compiled, each), join(folder, "types", each), {
        recursive: true,
        filter: (path) => !path.endsWith(".js"),
      });
    }
    bringContractInside(join(folder, "types"));
  }
  const files = manifest.files.filter((file) => file !== "lib");
  for (const file of files) copyPublished(source, target, file);
  const typesOf = (format: string, file: string): string =>
    `./lib/${format}/types/${name}/${file.slice(2).replace(/\.ts$/, ".d.ts")}`;
  const exports = mapExports(manifest, (entry, file) =>
    Object.fromEntries(
      FORMATS.map(({ format, condition }) => {
        return [condition, { types: typesOf(format, file), default: `./lib/${format}/${nameOf(entry)}.js` }];
      }),
    ),
  );
  const { [CONTRACT]: _, ...dependencies } = manifest.dependencies ?? {};
  return {
    // The folder of each format has its own `type`. This `type` is for the other files, such as `app.plugin.js`.
    type: "commonjs",
    exports,
    dependencies,
    // Tools that do not know `exports` read the members below.
    main: "./lib/cjs/index.js",
    types: typesOf("cjs", "./src/index.ts"),
    ...(others.length > 0 && {
      typesVersions: { "*": Object.fromEntries(others.map(([entry, file]) => [entry, [typesOf("cjs", file)]])) },
    }),
  };
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
function leaveToMetro(files: Readonly<Record<string, string>>): Rolldown.Plugin {
  return {
    name: "leave-to-metro",
    resolveId(specifier) {
      const name = basename(specifier, ".ts");
      return specifier.startsWith(".") && Object.hasOwn(files, name) ? { id: `./${name}`, external: true } : undefined;
    },
  };
}

/** Replaces imports of the contract in declarations by the path of the contract's copy next to them. */
function bringContractInside(types: string): void {
  const { exports } = manifestOf("contract");
  rewriteSpecifiers(types, (specifier, file) => {
    if (specifier !== CONTRACT && !specifier.startsWith(`${CONTRACT}/`)) return specifier;
    const entry = exports[`.${specifier.slice(CONTRACT.length)}`];
    if (entry === undefined) throw new Error(`${specifier} is no entry of the contract`);
    const path = relative(dirname(file), join(types, "contract", entry)).replace(/\.ts$/, ".js");
    return path.startsWith(".") ? path : `./${path}`;
  });
}
