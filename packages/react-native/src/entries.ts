/**
 * The entries of a list of unknown origin, if all of them are valid: a list without its wrong entries would be one that
 * was never observed. A copy, read index by index: a hole is a wrong entry, and a checked entry can't change afterwards.
 */
export function entriesOf<Entry>(
  value: unknown,
  maxLength: number,
  isEntry: (entry: unknown) => entry is Entry,
): readonly Entry[] | undefined {
  if (!Array.isArray(value) || value.length > maxLength) return undefined;
  const entries = Array.from({ length: value.length }, (_, index) => value[index] as unknown);
  return entries.every(isEntry) ? entries : undefined;
}
