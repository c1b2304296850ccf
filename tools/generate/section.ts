/**
 * Replaces the generated section of a page.
 * @param source what the marker names, from which the section is generated.
 * @throws if the page lacks the markers.
 */
export function withSection(page: string, source: string, section: string): string {
  const begin = `<!-- Generated from ${source} by \`npm run generate\`. -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf("<!-- End of what is generated. -->");
  if (from === -1 || to < from) throw new Error(`a page lacks the markers of the section from ${source}`);
  return `${page.slice(0, from)}${begin}\n\n${section}\n\n${page.slice(to)}`;
}
