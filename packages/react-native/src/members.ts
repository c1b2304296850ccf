export type Members = Readonly<Record<string, unknown>>;

/** A value of unknown origin as an object, which a list is not. */
export function membersOf(value: unknown): Members | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}
