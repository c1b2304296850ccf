/**
 * Control characters, invisible format characters such as direction marks, unpaired surrogates, and separators of lines
 * and paragraphs.
 */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Surrogate}\p{Zl}\p{Zp}]/gu;

/**
 * Replaces characters that could control a terminal, or hide or reorder text, by their JSON escapes, because many shown
 * texts come from clients.
 */
export function escapeControls(text: string): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replaceAll(CONTROLS, (character) => character.split("").map(escape).join(""));
}

/** Does the same as `escapeControls`, but keeps the line feeds of the text. */
export const escapeInLines = (text: string): string => text.split("\n").map(escapeControls).join("\n");
