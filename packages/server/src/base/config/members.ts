/**
 * Reads objects that a host passes: their getters, proxies and iterators may throw, and their names may be any text.
 */
import type { Result } from "./values.ts";

/** Returns the result of `read`, or a problem if the host's object throws. */
export function attempt<T>(read: () => Result<T>): Result<T> {
  try {
    return read();
  } catch {
    return { problem: "can't be read" };
  }
}

/** The own members of a plain object, enumerable or not, each read once. */
export type OwnMembers = ReadonlyMap<string | symbol, Result<unknown>>;

export function membersOf(object: unknown): Result<OwnMembers> {
  return attempt(() => {
    if (!isPlainObject(object)) return { problem: "must be a plain object" };
    const members = Reflect.ownKeys(object).map((name) => {
      const read = (): Result<unknown> => ({ value: Reflect.get(object, name) as unknown });
      return [name, attempt(read)] as const;
    });
    return { value: new Map(members) };
  });
}

/**
 * Whether a value is a plain object, of any realm. An object with another prototype inherits members, which `membersOf`
 * would ignore.
 */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

const PLAIN_NAME = /^[\w$-]{1,64}$/;
const MAX_NAME = 64;
/** Control and format characters, such as marks that reverse the direction of text, and line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns a name for a message. A name that is not plain is quoted, escaped and shortened. */
export function describeName(name: string | symbol): string {
  const text = String(name);
  if (PLAIN_NAME.test(text)) return text;
  const shown = text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text;
  return JSON.stringify(shown).replace(UNPRINTABLE, (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`);
}
