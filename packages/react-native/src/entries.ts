/**
 * A copy of a list of unknown origin, or `undefined` if one entry is invalid: a list without its invalid entries would
 * be one that was never observed. The copy is made index by index, so that a hole counts as an invalid entry and a
 * checked entry can't change afterwards.
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
