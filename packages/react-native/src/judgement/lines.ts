/**
 * Visits every line of a text, including a last line without a line end. It reads the text once and makes no array of
 * all lines.
 */
export function eachLine(text: string, visit: (line: string) => void): void {
  for (let start = 0; start < text.length;) {
    const stop = indexOrEnd(text, "\n", start);
    visit(text.slice(start, stop));
    start = stop + 1;
  }
}

/** The index of `sought` in a text, from `start` on, or the text's length if `sought` does not occur. */
export function indexOrEnd(text: string, sought: string, start: number): number {
  const place = text.indexOf(sought, start);
  return place < 0 ? text.length : place;
}

/** The distinct values of the pattern's first group; each line of the text is matched once. */
export function captures(text: string, pattern: RegExp): readonly string[] {
  const captured = new Set<string>();
  eachLine(text, (line) => {
    const match = pattern.exec(line);
    if (match?.[1]) captured.add(match[1]);
  });
  return [...captured];
}
