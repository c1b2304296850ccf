import { basename, dirname } from "node:path";

/** Words without their endings, so that "erased" and "erases" are the same. */
function wordsOf(text: string): ReadonlySet<string> {
  const words =
    text
      .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z]{3,}/g) ?? [];
  return new Set(words.map((word) => word.replace(/(ies|es|s|ed|ing)$/, "")));
}

/**
 * Sorts test files by how likely they notice a guard: they share rare words with its rule and its path, and they have
 * the name or the folder of its file.
 *
 * @param tests the text of each test file by its path
 */
export function rankTests(tests: ReadonlyMap<string, string>): (path: string, rule: string) => readonly string[] {
  const words = new Map([...tests].map(([path, text]) => [path, wordsOf(`${path} ${text}`)]));
  const rarity = new Map<string, number>();
  for (const word of [...words.values()].flatMap((set) => [...set])) rarity.set(word, (rarity.get(word) ?? 0) + 1);
  const weigh = (word: string): number => Math.log(tests.size / (rarity.get(word) ?? tests.size));
  return (path, rule) => {
    const wanted = [...wordsOf(`${rule} ${path}`)];
    const name = `/${basename(path).replace(/\.\w+$/, ".test.ts")}`;
    const score = ([test, has]: readonly [string, ReadonlySet<string>]): number => {
      const shared = wanted.reduce((sum, word) => sum + (has.has(word) ? weigh(word) : 0), 0);
      return shared * (test.endsWith(name) ? 2 : 1) * (dirname(test) === dirname(path) ? 1.5 : 1);
    };
    const scored = [...words].map((entry) => [entry[0], score(entry)] as const);
    return scored.toSorted(([, a], [, b]) => b - a).map(([test]) => test);
  };
}
