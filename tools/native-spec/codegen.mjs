/**
 * Runs React Native's codegen on the spec in `src/native`, and writes the output into the folders of
 * `codegenConfig.outputDir`. The output is committed, so that an app's build needs no additional step. `--check` writes
 * no file and fails on a difference.
 *
 * Codegen runs with different options for each platform, as in React Native's own build.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), "../../packages/react-native");
const PLATFORMS = [
  { name: "android", generators: ["modulesAndroid"], assumeNonnull: false },
  { name: "ios", generators: ["modulesIOS", "modulesCxx"], assumeNonnull: true },
];

const require = createRequire(import.meta.resolve("newest-react-native/package.json"));
const { combineSchemasInFileList } = require("@react-native/codegen/lib/cli/combine/combine-js-to-schema.js");
const generator = require("@react-native/codegen/lib/generators/RNCodegen.js");

const config = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")).codegenConfig;
const check = process.argv.includes("--check");
const problems = PLATFORMS.flatMap(check ? differences : write);

for (const line of problems) process.stderr.write(`${line}\n`);
if (problems.length > 0) {
  process.stderr.write("The generated native code is not what the spec says: run `npm run generate:native`.\n");
  process.exitCode = 1;
}

/** A map from the path inside the output folder to the text, for one platform. */
function generate({ name, generators, assumeNonnull }) {
  const outputDirectory = mkdtempSync(join(tmpdir(), "codegen-"));
  try {
    const schema = combineSchemasInFileList([join(PACKAGE, config.jsSrcsDir)], name, null, config.name);
    const options = {
      libraryName: config.name,
      schema,
      outputDirectory,
      packageName: config.android.javaPackageName,
      assumeNonnull,
    };
    if (!generator.generate(options, { generators })) throw new Error(`codegen failed for ${name}`);
    return filesOf(outputDirectory);
  } finally {
    rmSync(outputDirectory, { recursive: true, force: true });
  }
}

function write(platform) {
  const folder = join(PACKAGE, config.outputDir[platform.name]);
  const files = generate(platform);
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return [];
}

function differences(platform) {
  const base = config.outputDir[platform.name];
  const wanted = generate(platform);
  const found = filesOf(join(PACKAGE, base));
  const paths = [...new Set([...wanted.keys(), ...found.keys()])].sort((a, b) => a.localeCompare(b));
  return paths
    .filter((path) => wanted.get(path) !== found.get(path))
    .map((path) => `${base}/${path}: ${reason(wanted.has(path), found.has(path))}`);
}

function reason(wanted, found) {
  if (!found) return "missing";
  return wanted ? "differs" : "not generated";
}

/** A folder that does not exist has no files. */
function filesOf(folder) {
  let entries;
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (error.code === "ENOENT") return new Map();
    throw error;
  }
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .map((path) => [relative(folder, path).split(sep).join("/"), readFileSync(path, "utf8")]),
  );
}
