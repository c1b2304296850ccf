/** Every line of a text, the last one with or without its end; in one pass, without an array of all. */
export function eachLine(text: string, visit: (line: string) => void): void {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\n", start);
    const stop = end < 0 ? text.length : end;
    visit(text.slice(start, stop));
    start = stop + 1;
  }
}

/** What the first group of a pattern takes from the lines of a text, each once. */
export function captures(text: string, pattern: RegExp): readonly string[] {
  const captured = new Set<string>();
  eachLine(text, (line) => {
    const match = pattern.exec(line);
    if (match?.[1]) captured.add(match[1]);
  });
  return [...captured];
}
