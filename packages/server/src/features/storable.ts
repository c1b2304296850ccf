const MAX_DEPTH = 100;

/**
 * Whether PostgreSQL can store a parsed JSON value as `jsonb`: no text or name in it contains U+0000 or half of a
 * surrogate pair, and it has at most 100 levels.
 */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  if (depth >= MAX_DEPTH) return false;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member, depth + 1));
}
