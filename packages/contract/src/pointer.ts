/** Names longer than this never go into an answer: the pointer then stops at the parent. */
const LONGEST_NAME = 128;

/** Appends one member name or array index to a JSON Pointer (RFC 6901). */
export function pointerTo(parent: string, name: string | number): string {
  const token = String(name);
  if (token.length > LONGEST_NAME) return parent;
  return `${parent}/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
