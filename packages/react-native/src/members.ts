export type Members = Readonly<Record<string, unknown>>;

/** A value of unknown origin as an object; `undefined` if it is a list or no object. */
export function membersOf(value: unknown): Members | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}
