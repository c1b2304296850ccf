/** The maximum length of a name in an answer. A pointer ends before a longer name. */
const MAX_NAME_LENGTH = 128;

/** Appends one member name or array index to a JSON Pointer (RFC 6901), unless the name is too long. */
export function pointerTo(parent: string, name: string | number): string {
  const token = String(name);
  if (token.length > MAX_NAME_LENGTH) return parent;
  return `${parent}/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The JSON Pointer along a path; it ends before a name that is too long. */
export function pointerOf(path: readonly (string | number)[]): string {
  let pointer = "";
  for (const name of path) {
    const next = pointerTo(pointer, name);
    if (next === pointer) break;
    pointer = next;
  }
  return pointer;
}
