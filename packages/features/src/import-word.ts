/**
 * Whether the text of a program contains the word `import`. No such program is computed: an `import()` that fails gives
 * its caller an error of the main realm, and with it everything that this realm can reach. A keyword can't be spelled
 * with escapes.
 */
export const hasImportWord = (text: string): boolean => /\bimport\b/.test(text);
