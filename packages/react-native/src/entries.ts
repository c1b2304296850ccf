/**
 * The entries of a list of unknown origin, where all are as they should be: a list without its wrong ones would be a list
 * that nobody observed. A copy, read place by place: a hole is a wrong entry, and what was looked at does not change.
 */
export function entriesOf<Entry>(
  value: unknown,
  most: number,
  isEntry: (entry: unknown) => entry is Entry,
): readonly Entry[] | undefined {
  if (!Array.isArray(value) || value.length > most) return undefined;
  const entries = Array.from({ length: value.length }, (_, index) => value[index] as unknown);
  return entries.every(isEntry) ? entries : undefined;
}
