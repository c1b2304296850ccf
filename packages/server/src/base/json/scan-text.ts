const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const LOWER_U = 0x75;

/** The result of one pass over the bytes of a JSON text, before anything is parsed. */
export interface TextScan {
  /** Number of colons outside strings, which is the number of members at all depths, including duplicates. */
  readonly members: number;
  /** Whether a string holds a Unicode escape (`\u`), or the name of a member holds an escape of any kind. */
  readonly escapes: boolean;
}

/** Scans bytes. Never throws. The result has no meaning if the bytes are not JSON. */
export function scanText(bytes: Uint8Array): TextScan {
  const { length } = bytes;
  let members = 0;
  let escapes = false;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === COLON) members++;
    if (byte !== QUOTE) continue;
    let escaped = false;
    for (at++; at < length; at++) {
      const inner = bytes[at];
      if (inner === QUOTE) break;
      if (inner !== BACKSLASH) continue;
      escaped = true;
      at++;
      if (bytes[at] === LOWER_U) escapes = true;
    }
    if (escaped && isName(bytes, at)) escapes = true;
  }
  return { members, escapes };
}

/** Whether the string that ends at this quote is a member's name: a colon follows. */
function isName(bytes: Uint8Array, closingQuote: number): boolean {
  let at = closingQuote + 1;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return bytes[at] === COLON;
}
