import { type FaultCode, LIMITS, pointerOf } from "@device-risk-signals/contract";

export interface TextFault {
  readonly pointer: string;
  readonly code: FaultCode;
  readonly detail: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** What ends a number, `true`, `false` or `null`. */
const SCALAR = /[^\s,\]}]*/y;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Finds the first thing in a JSON text that `JSON.parse` accepts and I-JSON (RFC 7493) forbids.
 * @param text valid JSON.
 */
export function scanText(text: string): TextFault | undefined {
  let at = 0;
  const path: (string | number)[] = [];
  const pointer = (): string => pointerOf(path);

  function skipSpace(): void {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      at++;
    }
  }

  /** Leaves `at` behind the closing quote; returns the string's value. */
  function scanString(): string {
    const start = at;
    let escaped = false;
    for (at++; ; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        escaped = true;
        at++;
      }
    }
    at++;
    return escaped ? (JSON.parse(text.slice(start, at)) as string) : text.slice(start + 1, at - 1);
  }

  function checkString(): TextFault | undefined {
    if (!LONE_SURROGATE.test(scanString())) return undefined;
    return { pointer: pointer(), code: "lone-surrogate", detail: "a string holds half a surrogate pair" };
  }

  function scanObject(): TextFault | undefined {
    const names = new Set<string>();
    at++;
    skipSpace();
    while (text.charCodeAt(at) !== CLOSE_OBJECT) {
      if (text.charCodeAt(at) === COMMA) at++;
      skipSpace();
      const name = scanString();
      path.push(name);
      if (LONE_SURROGATE.test(name)) {
        path.pop();
        return { pointer: pointer(), code: "lone-surrogate", detail: "a member name holds half a surrogate pair" };
      }
      if (names.has(name)) {
        return { pointer: pointer(), code: "duplicate-member", detail: "a member name occurs twice in one object" };
      }
      names.add(name);
      skipSpace();
      at++;
      const fault = scanValue();
      if (fault) return fault;
      path.pop();
      skipSpace();
    }
    at++;
    return undefined;
  }

  function scanArray(): TextFault | undefined {
    at++;
    skipSpace();
    for (let index = 0; text.charCodeAt(at) !== CLOSE_ARRAY; index++) {
      if (text.charCodeAt(at) === COMMA) at++;
      path.push(index);
      const fault = scanValue();
      if (fault) return fault;
      path.pop();
      skipSpace();
    }
    at++;
    return undefined;
  }

  function scanScalar(): TextFault | undefined {
    SCALAR.lastIndex = at;
    const scalar = SCALAR.exec(text)?.[0] ?? "";
    at += scalar.length;
    if (Number.isFinite(JSON.parse(scalar)) || !/^[-\d]/.test(scalar)) return undefined;
    return { pointer: pointer(), code: "number-overflow", detail: "a number is beyond the range of a double" };
  }

  /** Every container that is open has one step of the path behind it. */
  function tooDeep(): TextFault | undefined {
    if (path.length < LIMITS.nesting) return undefined;
    const detail = `nesting is deeper than ${LIMITS.nesting} levels`;
    return { pointer: pointer(), code: "nesting-too-deep", detail };
  }

  function scanValue(): TextFault | undefined {
    skipSpace();
    switch (text.charCodeAt(at)) {
      case OPEN_OBJECT:
        return tooDeep() ?? scanObject();
      case OPEN_ARRAY:
        return tooDeep() ?? scanArray();
      case QUOTE:
        return checkString();
      default:
        return scanScalar();
    }
  }

  return scanValue();
}
