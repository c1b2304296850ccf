/** Reports regular expressions that are not exact in each engine, or that some text makes backtrack without bound. */
import { isSafe } from "redos-detector";

/** @returns what is wrong with the literal of an expression */
export function lintExpression(source: string, flags: string): readonly string[] {
  const isUnicode = /[uv]/.test(flags);
  const problems = [
    /\\p\{/i.test(source) && isUnicode ? "`\\p{…}`: what it matches depends on the version of Unicode" : undefined,
    flags.includes("i") && isUnicode
      ? "the flags `i` and `u`: what they match depends on the version of Unicode"
      : undefined,
    backtrackingOf(source, flags),
  ];
  return problems.filter((problem) => problem !== undefined);
}

/**
 * The maximum number of backtracks for one start of a match, and of steps and milliseconds of the search for them. Few
 * steps can take very long. All steps for an expression that does not backtrack take a third of the time.
 */
const BACKTRACKS = { maxScore: 200, maxSteps: 20_000, timeout: 500 };

/**
 * Reports an expression that some text makes backtrack without bound. A device chooses the texts of its events, of up
 * to 250 KB, and for such a text even quadratic time exceeds every limit.
 */
function backtrackingOf(source: string, flags: string): string | undefined {
  const name = `\`/${source}/${flags}\``;
  if (repeatsInLookaround(source))
    return `${name}: the lint can't check whether a repetition in a lookaround backtracks: allow at most nine of them`;
  // With this flag a match can begin at each line, which the search ignores.
  const searched = flags.includes("m") ? `^[^]*(?:${source})` : source;
  try {
    if (isSafe(new RegExp(searched, flags), BACKTRACKS).safe) return undefined;
  } catch {
    // The flag `v`, or `i` together with `u`.
    return `${name}: the lint can't check whether it backtracks: use other flags`;
  }
  return `${name}: some text makes it backtrack too often; anchor it with \`^\` without the flag \`m\`, and bound repetitions that can match the same text`;
}

/**
 * Whether a lookaround has a repetition of more than nine times, or a reference to a group. The engine tries a
 * lookaround at each place where the expression may continue, and the search for backtracks does not count this.
 */
function repeatsInLookaround(source: string): boolean {
  let rest = source.replaceAll(/\\[1-9k]/g, "x*").replaceAll(/\\[^]|\[(?:\\[^]|[^\]\\])*\]/g, "x");
  for (let group = GROUP.exec(rest); group; group = GROUP.exec(rest)) {
    const [text, look, body = ""] = group;
    const single = body.replaceAll(/\{\d(?:,\d)?\}/g, "");
    // A repetition of a group that repeats something itself multiplies both numbers.
    const isRepeated = /[*+]|\{\d*(?:,|\d\d)/.test(single) || /\}\??\{/.test(body);
    if (look && isRepeated) return true;
    const shown = isRepeated ? "x*" : single === body ? "x" : "x{9}";
    rest = rest.slice(0, group.index) + shown + rest.slice(group.index + text.length);
  }
  return false;
}

/** A group without groups in it. */
const GROUP = /\((?:(\?<?[=!])|\?:|\?<\w+>)?([^()]*)\)/;
