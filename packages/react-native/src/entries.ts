/**
 * Copies a list of unknown origin. Returns `undefined` if the value is no list, the list is too long or an entry is
 * invalid. A shortened list would be a value that was never observed. The copy is made index by index, so that a hole
 * counts as an invalid entry, and so that an entry can't change after its check.
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
