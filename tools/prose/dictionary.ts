import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { decodeTrie } from "cspell-trie-lib";

const require = createRequire(import.meta.url);

async function wordsOf(path: string): Promise<string[]> {
  const bytes = await readFile(path);
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text.split("\n").map((line) => line.replace(/#.*/, "").trim());
}

/** Accepts British English, terms of software, and the project's words in `words.txt`. */
export async function readDictionary(): Promise<(word: string) => boolean> {
  const folder = (name: string): string => dirname(require.resolve(`${name}/cspell-ext.json`));
  const english = decodeTrie(gunzipSync(await readFile(join(folder("@cspell/dict-en-gb"), "en_GB.trie.gz"))));
  const lists = [
    join(folder("@cspell/dict-software-terms"), "dict/softwareTerms.txt.gz"),
    join(folder("@cspell/dict-software-terms"), "dict/coding-compound-terms.txt"),
    join(import.meta.dirname, "words.txt"),
  ];
  const words = new Set((await Promise.all(lists.map(wordsOf))).flat());
  return (word) => words.has(word) || english.hasWord(word, true);
}
