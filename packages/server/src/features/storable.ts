const MAX_DEPTH = 100;

/**
 * Whether a parsed JSON value can be archived: no text or name in it contains U+0000 or half of a surrogate pair, which
 * PostgreSQL does not store as `jsonb`, and it has at most 100 levels.
 */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  if (depth >= MAX_DEPTH) return false;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member, depth + 1));
}
