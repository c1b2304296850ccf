const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * The bytes of the `observations` value as they were sent, from its first `{` to its last `}`.
 *
 * The body has passed validation, so it is a JSON object without duplicate names, and every member except
 * `observations` is a string. The search skips these strings from both ends and never reads the value. It can compare
 * bytes, because structural characters are ASCII, and no byte of a longer UTF-8 sequence is an ASCII byte.
 */
export function locateObservations(body: Buffer): Buffer {
  return body.subarray(findStart(body), findEnd(body));
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function skipSpace(body: Buffer, at: number): number {
  while (isSpace(body[at])) at++;
  return at;
}

function findStart(body: Buffer): number {
  let at = skipSpace(body, 0) + 1;
  for (;;) {
    at = skipSpace(body, at);
    const nameStart = at;
    at = skipString(body, at);
    const name: unknown = JSON.parse(body.toString("utf8", nameStart, at));
    at = skipSpace(body, skipSpace(body, at) + 1);
    if (name === "observations") return at;
    at = skipSpace(body, skipString(body, at));
    if (body[at] !== COMMA) throw new Error("no observations in a validated body");
    at++;
  }
}

/** @param at the position of the opening quote. @returns the position after the closing quote. */
function skipString(body: Buffer, at: number): number {
  for (at++; body[at] !== QUOTE; at++) {
    if (at >= body.length) throw new Error("an unterminated string in a validated body");
    if (body[at] === BACKSLASH) at++;
  }
  return at + 1;
}

function skipSpaceBackwards(body: Buffer, at: number): number {
  while (isSpace(body[at - 1])) at--;
  return at;
}

/** Skips the members after `observations`, from the end of the body. `at` is always the position after a token. */
function findEnd(body: Buffer): number {
  let at = skipSpaceBackwards(body, skipSpaceBackwards(body, body.length) - 1);
  while (body[at - 1] === QUOTE) {
    at = skipSpaceBackwards(body, skipStringBackwards(body, at)) - 1;
    at = skipSpaceBackwards(body, skipStringBackwards(body, skipSpaceBackwards(body, at))) - 1;
    at = skipSpaceBackwards(body, at);
  }
  return at;
}

/**
 * @param at the position after the closing quote.
 * @returns the position of the opening quote: the nearest quote to the left that follows an even number of backslashes.
 */
function skipStringBackwards(body: Buffer, at: number): number {
  for (let quote = at - 2; quote >= 0; quote--) {
    if (body[quote] !== QUOTE) continue;
    let slashes = 0;
    while (body[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote;
  }
  throw new Error("an unopened string in a validated body");
}
