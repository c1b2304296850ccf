/** Names and what they are set to, as texts that one pattern can know: `ro.debuggable=1`. What is not set is left out. */
export function factsOf(names: readonly string[], values: Readonly<Record<string, string>> = {}): readonly string[] {
  return names.filter((name) => values[name]).map((name) => `${name}=${values[name]}`);
}

/** Whether of each it is known what it is set to, or that it is not set. */
export function knowsAll(names: readonly string[], values?: Readonly<Record<string, string>>): boolean {
  return values !== undefined && names.every((name) => values[name] !== undefined);
}
