/**
 * The number of bytes of a text in UTF-8. Older versions of Hermes have no `TextEncoder`. Each half of a surrogate pair
 * counts as two bytes, because the pair has four.
 */
export function byteLength(text: string): number {
  return text.replace(/[\x80-\u07ff\ud800-\udfff]/g, "..").replace(/[\u0800-\uffff]/g, "...").length;
}
