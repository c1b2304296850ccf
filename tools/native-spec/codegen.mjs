/**
 * Runs React Native's codegen on the spec in `src/native`, and writes the output into the folders of
 * `codegenConfig.outputDir`. The output is committed, so that an app's build needs no additional step. `--check` writes
 * no file and fails on a difference.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PACKAGE = join(import.meta.dirname, "../../packages/react-native");
/** Options for each platform, as in React Native's own build. */
const PLATFORMS = {
  android: { generators: ["modulesAndroid"], assumeNonnull: false },
  ios: { generators: ["modulesIOS", "modulesCxx"], assumeNonnull: true },
};

const require = createRequire(import.meta.resolve("newest-react-native/package.json"));
const { combineSchemasInFileList } = require("@react-native/codegen/lib/cli/combine/combine-js-to-schema.js");
const generator = require("@react-native/codegen/lib/generators/RNCodegen.js");

const { codegenConfig: config } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
for (const [name, { generators, assumeNonnull }] of Object.entries(PLATFORMS)) {
  const outputDirectory = mkdtempSync(join(tmpdir(), "codegen-"));
  try {
    const schema = combineSchemasInFileList([join(PACKAGE, config.jsSrcsDir)], name, null, config.name);
    const packageName = config.android.javaPackageName;
    const options = { libraryName: config.name, schema, outputDirectory, packageName, assumeNonnull };
    if (!generator.generate(options, { generators })) throw new Error(`codegen failed for ${name}`);
    const committed = join(PACKAGE, config.outputDir[name]);
    if (!process.argv.includes("--check")) {
      rmSync(committed, { recursive: true, force: true });
      cpSync(outputDirectory, committed, { recursive: true });
    } else if (spawnSync("diff", ["-r", committed, outputDirectory], { stdio: "inherit" }).status !== 0) {
      process.stderr.write("The generated native code is not what the spec says: run `npm run generate:native`.\n");
      process.exitCode = 1;
    }
  } finally {
    rmSync(outputDirectory, { recursive: true, force: true });
  }
}
