/** Names with a common prefix: `under("/dev/", "a b")` is `["/dev/a", "/dev/b"]`. */
export function under(beginning: string, names: string): readonly string[] {
  return names.split(" ").map((name) => beginning + name);
}
