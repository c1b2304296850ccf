import type { TextlintRuleModule } from "@textlint/types";
import { TERMS } from "./terms.ts";

const avoidedWords = new Map(TERMS.flatMap(({ avoid, write }) => avoid.map((phrase) => [phrase, write] as const)));
const phrases = [...avoidedWords.keys()].map((phrase) => phrase.replaceAll(" ", "\\s+")).join("|");
const AVOIDED = new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${phrases})(?![\\p{L}\\p{N}_-])`, "giu");

/** Reports words that the list of terms avoids. It ignores code and the addresses of links. */
export const terminology: TextlintRuleModule = (context) => ({
  [context.Syntax.Str](node) {
    for (const match of context.getSource(node).matchAll(AVOIDED)) {
      const phrase = match[0].toLowerCase().replace(/\s+/g, " ");
      const padding = context.locator.at(match.index);
      context.report(node, new context.RuleError(`"${phrase}": write ${avoidedWords.get(phrase) ?? ""}`, { padding }));
    }
  },
});

// A token is a name and not a word if it contains a digit, a sign such as an underscore or a dot inside, or a capital
// letter after a small one, or if it consists of capital letters.
const TOKEN = /[\p{L}\p{N}_$@./:\\#%&=+-]*[\p{L}](?:[\p{L}\p{N}_'’$@/:\\#%&=+-]|\.(?=[\p{L}\p{N}]))*/gu;
const NAME = /[\p{N}_$@/\\#%&=+:.]|[\p{Ll}]\p{Lu}|^\p{Lu}+s?$/u;

const MAX_CELL_WORDS = 14;

/** Reports table cells that are longer than a phrase. */
export const tableCell: TextlintRuleModule = (context) => ({
  [context.Syntax.TableCell](node) {
    const words = context.getSource(node).match(/`[^`]*`|\[[^\]]*\]\([^)]*\)|[^\s|`]+/g)?.length ?? 0;
    if (words <= MAX_CELL_WORDS) return;
    context.report(node, new context.RuleError(`a table cell of ${words} words: move the text below the table`));
  },
});

/** Reports words that no dictionary contains. */
export function spelling(knows: (word: string) => boolean): TextlintRuleModule {
  const isWord = (word: string): boolean => word.length < 3 || knows(word) || knows(word.toLowerCase());
  return (context) => ({
    [context.Syntax.Str](node) {
      for (const { 0: token, index } of context.getSource(node).matchAll(TOKEN)) {
        for (const word of token.replaceAll("’", "'").split(/[-]/)) {
          if (NAME.test(word) || isWord(word.replace(/'s?$/, ""))) continue;
          const padding = context.locator.at(index);
          context.report(node, new context.RuleError(`"${word}" is not in the dictionary`, { padding }));
        }
      }
    },
  });
}
