/**
 * Patterns that are made from lists of names. A list can be enumerated, so a test can check that each of its names is
 * found.
 */
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
const either = (names: readonly string[]): string => names.map(escaped).join("|");

/** Matches a text that is one of the names. */
export function wholeName(names: readonly string[]): RegExp {
  return RegExp(`^(${either(names)})$`);
}

/**
 * Matches the base name of a library, with or without the prefix `lib`. The name of a family may continue after a
 * separator, as in `frida-agent-64.so`; the other names may not.
 */
export function libraryNamed(names: readonly string[], families: readonly string[]): RegExp {
  return RegExp(`^(lib)?((${either(names)})(\\.|$)|(${either(families)})([-_.]|$))`);
}

/** Matches a text `name=value`. In a fact of the list, `*` means any text. */
export function oneOfFacts(facts: readonly string[]): RegExp {
  const patterns = facts.map((fact) => {
    const pattern = fact.split("*").map(escaped).join(".*");
    // Without the end `.*$`, the pattern reads each character of a hostile text only once.
    return pattern.endsWith(".*") ? pattern.slice(0, -2) : `${pattern}$`;
  });
  return RegExp(`^(${patterns.join("|")})`);
}
