/**
 * `npm run train-dictionary -- VERSION`: writes a version of the dictionary of stored events, and the test vector that
 * uses it. The test of the compression compares the last version with the output of this program.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Compressor } from "../../packages/server/src/store/crypto/compression.ts";
import { makeDictionary } from "./make-dictionary.ts";

const FOLDER = join(import.meta.dirname, "../../packages/server/src/store/crypto/dictionaries");
const VECTORS = join(import.meta.dirname, "../../docs/decisions/0010-stored-formats.vectors.json");

const [version = ""] = process.argv.slice(2);
if (/^[1-9]\d*$/.test(version)) {
  const { names, content } = makeDictionary();
  writeFileSync(join(FOLDER, `${version}.names`), names.map((name) => `${name}\n`).join(""));
  writeFileSync(join(FOLDER, `${version}.zdict`), content);
  const vectors = readFileSync(VECTORS, "utf8");
  const { exact_with_tokens } = JSON.parse(vectors) as { exact_with_tokens: string };
  const { dictionary, bytes } = await new Compressor().compress(Buffer.from(exact_with_tokens));
  const vector = Buffer.concat([Buffer.of(dictionary), bytes]).toString("hex");
  if (dictionary === Number(version)) {
    writeFileSync(VECTORS, vectors.replace(/(?<="compressed_with_tokens": ")[^"]*/, vector));
  }
} else {
  process.stderr.write("usage: npm run train-dictionary -- VERSION\n");
  process.exitCode = 2;
}
