/** Computes features for the longest values that an event can have, because a device chooses what it sends. */
import { childrenOf, parse, type SyntaxNode } from "../compile/syntax.ts";
import type { Bundle, ManifestInput } from "../manifest.ts";
import type { ReadInput } from "../readings/readings.ts";
import { NotLoadable, openRunner } from "../runner/runner.ts";
import { BUDGET_MS } from "./check-cases.ts";
import { writeResult } from "./fixtures.ts";

/** The length of a value as JSON: a request has at most 256 KiB. */
const MAX_CHARACTERS = 250_000;
/** Maximum number of characters of which a text is made, so that a check of any number of features ends soon. */
const MAX_TEXTS = 24;
/** A character that each class of a regular expression matches. */
const MEMBERS: Readonly<Record<string, string>> = { d: "0", w: "a", s: " " };

/** The first of 42,720 characters in the supplementary ideographic plane. */
const FIRST_CHARACTER = 0x2_0000;

type Values = Partial<Record<ManifestInput["type"], unknown>>;

interface WorstCase {
  readonly name: string;
  readonly read: ReadInput;
}

/** @returns a problem for each feature that fails, with the first case for which it does. */
export async function checkWorstCases(
  features: readonly { readonly bundle: Bundle; readonly file: string }[],
): Promise<string[]> {
  const bundles = features.map(({ bundle }) => bundle);
  const problems = new Map<string, string>();
  try {
    const runner = await openRunner(bundles, { budgetMs: BUDGET_MS });
    try {
      // Each case is a batch, because all of them together would take much memory.
      for (const { name, read } of worstCasesOf(bundles)) {
        const { events } = await runner.run([read]);
        for (const [at, result] of (events[0] ?? []).entries()) {
          const { file = "" } = features[at] ?? {};
          if (result.state !== "failed" || problems.has(file)) continue;
          problems.set(file, `${file}: ${name}: the result is ${JSON.stringify(writeResult(result))}`);
        }
      }
    } finally {
      await runner.close();
    }
  } catch (error) {
    // The check of the fixtures reports it.
    if (!(error instanceof NotLoadable)) throw error;
  }
  return [...problems.values()];
}

function worstCasesOf(bundles: readonly Bundle[]): readonly WorstCase[] {
  const characters = new Set(["a", "0", " ", ...bundles.flatMap(({ text }) => charactersOf(parse(text, "js")))]);
  const texts = [...characters].slice(0, MAX_TEXTS).map((character) => {
    const text = character.repeat(MAX_CHARACTERS);
    return worstCase(`every text is ${JSON.stringify(character)} repeated`, { string: text, "string[]": [text] });
  });
  const numbers = Array.from({ length: 40_000 }, (_, index) => index);
  const lists = { "string[]": numbers.map((number) => number.toString(36)), "number[]": numbers };
  // A request can contain as many characters of four bytes.
  const distinct = String.fromCodePoint(...numbers.map((number) => FIRST_CHARACTER + number));
  texts.push(
    worstCase(`every text has ${numbers.length} distinct characters`, { string: distinct, "string[]": [distinct] }),
  );
  return [...texts, worstCase(`every list has ${numbers.length} members`, lists)];
}

function worstCase(name: string, values: Values): WorstCase {
  const all: Values = { boolean: true, number: 1, string: "a", "string[]": ["a"], "number[]": [1], ...values };
  return { name, read: ({ type }) => ({ state: "observed", value: all[type] }) };
}

/** The characters that the regular expressions of a program name. */
function charactersOf(node: SyntaxNode): readonly string[] {
  const { pattern = "" } = (node["regex"] ?? {}) as { readonly pattern?: string };
  const own = [...pattern.matchAll(/\\([a-z])|([^\\^$.*+?()[\]{}|])/gi)].flatMap(
    ([, letter, character]) => character ?? MEMBERS[letter ?? ""] ?? [],
  );
  return [...own, ...childrenOf(node).flatMap(charactersOf)];
}
