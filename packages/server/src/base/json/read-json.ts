import { type ViolationCode, LIMITS, pointerOf } from "@device-risk-signals/contract";

/**
 * A violation of JSON (RFC 8259) or I-JSON (RFC 7493), and its place. It is a class, so that no JSON value can be
 * mistaken for a violation.
 */
export class TextError {
  readonly pointer: string;
  readonly code: ViolationCode;
  readonly detail: string;

  constructor(pointer: string, code: ViolationCode, detail: string) {
    this.pointer = pointer;
    this.code = code;
    this.detail = detail;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Number of members and items between two pauses. Reading them takes less than a millisecond. */
const MEMBERS_PER_TURN = 512;

/** Reads a text without a pause. @returns its value, or a `TextError`. */
export function readJson(text: string): unknown {
  const reading = readInTurns(text);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
  }
}

/**
 * Reads a text member by member, until its end or the first violation of JSON (RFC 8259) or I-JSON (RFC 7493). It
 * pauses after every 512 members and items. It is about three times slower than `JSON.parse`, but correct in one case
 * in which `JSON.parse` is not: after V8 (Node 24 and 26) has parsed an object with a backslash in a name, it may
 * confuse escaped names of later texts with that name.
 */
export function* readInTurns(text: string): Generator<void, unknown> {
  let at = 0;
  let members = 0;
  const path: (string | number)[] = [];
  const syntaxError = (): TextError => error("json-invalid", "the body is not one JSON text");
  const error = (code: ViolationCode, detail: string): TextError => new TextError(pointerOf(path), code, detail);

  function skipSpace(): void {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      at++;
    }
  }

  /** Skips white space, and then the next character if it is `code`. @returns whether it is. */
  function accepts(code: number): boolean {
    skipSpace();
    if (text.charCodeAt(at) !== code) return false;
    at++;
    return true;
  }

  /** Reads a string, and leaves `at` after its closing quote. @returns `undefined` if the string is not valid JSON. */
  function readString(): string | undefined {
    const start = at;
    let escaped = false;
    for (at++; ; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      // At the end of the text `code` is NaN, so the comparison is false there, too.
      if (!(code >= SPACE)) return undefined;
      if (code === BACKSLASH) {
        escaped = true;
        at++;
      }
    }
    at++;
    return escaped ? unescape(text.slice(start, at)) : text.slice(start + 1, at - 1);
  }

  function readText(): string | TextError {
    const value = readString();
    if (value === undefined) return syntaxError();
    return value.isWellFormed() ? value : error("lone-surrogate", "a string holds half a surrogate pair");
  }

  function* readObject(): Generator<void, Record<string, unknown> | TextError> {
    const object: Record<string, unknown> = {};
    at++;
    if (accepts(CLOSE_OBJECT)) return object;
    do {
      if (++members % MEMBERS_PER_TURN === 0) yield;
      skipSpace();
      const name = text.charCodeAt(at) === QUOTE ? readString() : undefined;
      if (name === undefined) return syntaxError();
      if (!name.isWellFormed()) return error("lone-surrogate", "a member name holds half a surrogate pair");
      path.push(name);
      if (Object.hasOwn(object, name)) return error("duplicate-member", "a member name occurs twice in one object");
      if (!accepts(COLON)) return syntaxError();
      const value = isContainer() ? yield* readContainer() : readLeaf();
      if (value instanceof TextError) return value;
      path.pop();
      setOwn(object, name, value);
    } while (accepts(COMMA));
    return accepts(CLOSE_OBJECT) ? object : syntaxError();
  }

  function* readArray(): Generator<void, unknown[] | TextError> {
    const array: unknown[] = [];
    at++;
    if (accepts(CLOSE_ARRAY)) return array;
    do {
      if (++members % MEMBERS_PER_TURN === 0) yield;
      path.push(array.length);
      const value = isContainer() ? yield* readContainer() : readLeaf();
      if (value instanceof TextError) return value;
      path.pop();
      array.push(value);
    } while (accepts(COMMA));
    return accepts(CLOSE_ARRAY) ? array : syntaxError();
  }

  function readScalar(): unknown {
    SCALAR.lastIndex = at;
    const scalar = SCALAR.exec(text)?.[0];
    if (scalar === undefined) return syntaxError();
    at += scalar.length;
    if (scalar === "true") return true;
    if (scalar === "false") return false;
    if (scalar === "null") return null;
    // `Number` reads a JSON number as `JSON.parse` does.
    const value = Number(scalar);
    if (Number.isFinite(value)) return value;
    return error("number-overflow", "a number is beyond the range of a double");
  }

  /** Returns an error if another container would be nested too deep. `path` has one step for each open container. */
  function checkNesting(): TextError | undefined {
    if (path.length < LIMITS.nesting) return undefined;
    return error("nesting-too-deep", `nesting is deeper than ${LIMITS.nesting} levels`);
  }

  /** Whether the next value is an object or an array. */
  function isContainer(): boolean {
    skipSpace();
    const code = text.charCodeAt(at);
    return code === OPEN_OBJECT || code === OPEN_ARRAY;
  }

  function* readContainer(): Generator<void, unknown> {
    return checkNesting() ?? (yield* text.charCodeAt(at) === OPEN_OBJECT ? readObject() : readArray());
  }

  const readLeaf = (): unknown => (text.charCodeAt(at) === QUOTE ? readText() : readScalar());

  const value = isContainer() ? yield* readContainer() : readLeaf();
  if (value instanceof TextError) return value;
  skipSpace();
  return at === text.length ? value : syntaxError();
}

/** @param string with its quotes. */
function unescape(string: string): string | undefined {
  try {
    return JSON.parse(string) as string;
  } catch {
    return undefined;
  }
}

/** Sets a member as `JSON.parse` does: `__proto__` is a member like any other. */
function setOwn(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
