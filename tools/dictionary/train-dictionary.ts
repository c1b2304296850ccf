/**
 * `npm run train-dictionary -- VERSION`: writes a version of the dictionary of stored events. The test of the
 * compression compares the last version with the output of this program.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDictionary } from "./make-dictionary.ts";

const FOLDER = join(import.meta.dirname, "../../packages/server/src/store/crypto/dictionaries");

const [version = ""] = process.argv.slice(2);
if (/^[1-9]\d*$/.test(version)) {
  const { names, content } = makeDictionary();
  writeFileSync(join(FOLDER, `${version}.names`), names.map((name) => `${name}\n`).join(""));
  writeFileSync(join(FOLDER, `${version}.zdict`), content);
} else {
  process.stderr.write("usage: npm run train-dictionary -- VERSION\n");
  process.exitCode = 2;
}
