/** Kinds of configuration values: each reads the text of a variable, and checks the value of an option. */
import { types } from "node:util";
import { readDatabaseUrl } from "./database-url.ts";

export type Result<T> = { readonly value: T } | { readonly problem: string };

export type Read<T> = (text: string) => Result<T>;

export interface Kind<T> {
  readonly read: Read<T>;
  /** Checks the value of an option, which may have any type. */
  readonly check: (value: unknown) => Result<T>;
  /** The option's type, in TypeScript. */
  readonly type: string;
}

/** A kind of value whose text is the same in an option and in a variable. */
function textKind<T extends string>(read: Read<T>, wanted: string, type = "string"): Kind<T> {
  return { read, check: (value) => (typeof value === "string" ? read(value) : { problem: `must be ${wanted}` }), type };
}

function withCheck<T>(kind: Kind<T>, problemOf: (value: T) => string | undefined): Kind<T> {
  const refine = (result: Result<T>): Result<T> => {
    const problem = "value" in result ? problemOf(result.value) : undefined;
    return problem === undefined ? result : { problem };
  };
  return { ...kind, read: (text) => refine(kind.read(text)), check: (value) => refine(kind.check(value)) };
}

const NOT_EMPTY = { problem: "must not be empty" };

export const text = textKind((raw) => (raw === "" ? NOT_EMPTY : { value: raw }), "a string that is not empty");

/** The path of a file or a folder. */
export const path = textKind(text.read, "a path");

const isBoolean = (value: unknown): Result<boolean> =>
  typeof value === "boolean" ? { value } : { problem: "must be true or false" };

export const flag: Kind<boolean> = {
  read: (raw) => isBoolean(raw === "true" ? true : raw === "false" ? false : raw),
  check: isBoolean,
  type: "boolean",
};

function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

export function integer(least: number, most: number): Kind<number> {
  const check = (value: unknown): Result<number> =>
    isWhole(value, least, most) ? { value } : { problem: `must be a whole number from ${least} to ${most}` };
  return { read: (raw) => check(/^\d{1,15}$/.test(raw) ? Number(raw) : raw), check, type: "number" };
}

export function oneOf<const T extends string>(...values: readonly T[]): Kind<T> {
  const problem = `must be one of ${values.join(", ")}`;
  const read: Read<T> = (raw) => {
    const value = values.find((candidate) => candidate === raw);
    return value === undefined ? { problem } : { value };
  };
  return textKind(read, `one of ${values.join(", ")}`, values.map((value) => `"${value}"`).join(" | "));
}

const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const NO_DURATION = "must be a duration such as 500ms, 30s, 5m, 24h or 7d";

/** Returns the milliseconds of a duration such as `500ms`, `7d` or `0`, or `undefined` if the text is no duration. */
function millisecondsOf(raw: string): number | undefined {
  if (raw === "0") return 0;
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(raw);
  return match ? Number(match[1]) * (DURATION_UNITS[match[2] ?? ""] ?? 0) : undefined;
}

/**
 * A duration from `least` to `most`, which are texts such as `30s`. The value of an option is a number of milliseconds.
 */
export function durationWithin(least: string, most: string): Kind<number> {
  const [leastMs, mostMs] = [millisecondsOf(least), millisecondsOf(most)];
  if (leastMs === undefined || mostMs === undefined) throw new TypeError(`${least} or ${most} is no duration`);
  const within = (value: unknown, problem: string): Result<number> =>
    isWhole(value, leastMs, mostMs) ? { value } : { problem };
  return {
    read: (raw) => {
      const value = millisecondsOf(raw);
      return value === undefined ? { problem: NO_DURATION } : within(value, `must be from ${least} to ${most}`);
    },
    check: (value) => within(value, `must be a whole number of milliseconds from ${leastMs} to ${mostMs} (${most})`),
    type: "number",
  };
}

/** A duration of at most a hundred years, because a receipt states the date on which it ends. */
export const duration = durationWithin("0ms", "36500d");

const isName = (item: unknown): item is string => typeof item === "string" && item !== "";

export const list: Kind<readonly string[]> = {
  read: (raw) => {
    const items = raw.split(",").map((item) => item.trim());
    return items.every(isName) ? { value: items } : { problem: "must be names separated by commas" };
  },
  check: (value) => {
    const items: readonly unknown[] = Array.isArray(value) ? [...value] : [];
    return items.length > 0 && items.every(isName) ? { value: items } : { problem: "must be an array of names" };
  },
  type: "readonly string[]",
};

const isArgument = (item: unknown): item is string => typeof item === "string" && !item.includes("\0");

/** A program and its arguments. The problem quotes nothing: an argument may be a secret. */
export const argumentList: Kind<readonly string[]> = {
  read: (raw) => checkArguments(parsedJson(raw), `must be a JSON array of strings, such as ["pass","show","drs"]`),
  check: (value) => checkArguments(value, "must be an array of the program and its arguments"),
  type: "readonly string[]",
};

function checkArguments(value: unknown, problem: string): Result<readonly string[]> {
  const items: readonly unknown[] = Array.isArray(value) ? [...value] : [];
  return items.every(isArgument) && isName(items[0]) ? { value: items } : { problem };
}

function parsedJson(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}

const HOST_NAME = /^[a-z\d]([a-z\d._-]*[a-z\d])?$/i;

export const hostNames = withCheck(list, (names) =>
  names.every((name) => HOST_NAME.test(name)) ? undefined : "must be host names separated by commas, without ports",
);

export function url(...protocols: readonly string[]): Kind<string> {
  const starts = protocols.join(" or ");
  const read: Read<string> = (raw) => {
    if (!URL.canParse(raw)) return { problem: "must be a URL" };
    return protocols.includes(new URL(raw).protocol) ? { value: raw } : { problem: `must start with ${starts}` };
  };
  return textKind(read, `a URL that starts with ${starts}`);
}

/** The URL of a database in PostgreSQL. */
export const postgresUrl = textKind((raw) => {
  const read = readDatabaseUrl(raw);
  return "problem" in read ? read : { value: raw };
}, "a URL that starts with postgres: or postgresql:");

/** A URL without credentials, because it is printed and logged, and `fetch` takes no URL with credentials. */
const urlWithoutCredentials = withCheck(url("https:", "http:"), (raw) => {
  const { username, password } = new URL(raw);
  return username === "" && password === "" ? undefined : "must not hold credentials";
});

/** A URL to fetch from. It starts with `https:`, or with `http:` on loopback. */
export const webUrl = withCheck(urlWithoutCredentials, (raw) => {
  const { protocol, hostname } = new URL(raw);
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return protocol === "https:" || local ? undefined : "must start with https: beyond loopback";
});

/** A URL without a query, whose path a proxy may add to every path of a listener. */
export const webBase = withCheck(webUrl, (raw) =>
  /^[^?#]*$/.test(raw) && /^(\/[\w.~-]+)*\/?$/.test(new URL(raw).pathname)
    ? undefined
    : "must be a scheme, a host, a port and a path of letters, digits, `-`, `_`, `.`, `~` and `/` only",
);

/** A URL of a scheme, a host and a port only. */
export const webOrigin = withCheck(webUrl, (raw) =>
  new URL(raw).origin === raw.replace(/\/$/, "") ? undefined : "must be a scheme, a host and a port only",
);

/** Scope tokens of RFC 6749. One of them must be `openid`: without it, a request is not a request of OpenID Connect. */
export const scopes = withCheck(list, (names) =>
  names.includes("openid") && names.every((name) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name))
    ? undefined
    : "must be scopes separated by commas, openid among them",
);

const KEY_BYTES = 32;

export const key256: Kind<Buffer> = {
  read: (raw) => {
    const value = Buffer.from(raw, "base64");
    return value.length === KEY_BYTES && value.toString("base64").replace(/=+$/, "") === raw.replace(/=+$/, "")
      ? { value }
      : { problem: "must be 32 bytes in base64, as `openssl rand -base64 32` prints them" };
  },
  check: (value) =>
    types.isUint8Array(value) && value.length === KEY_BYTES
      ? { value: Buffer.from(value) }
      : { problem: "must be a Uint8Array of 32 bytes" },
  type: "Uint8Array",
};

/** A secret that is shared with another system, long enough that it can't be guessed. */
export const sharedSecret = textKind(
  (raw) => (Buffer.byteLength(raw) < 32 ? { problem: "must have at least 32 bytes" } : { value: raw }),
  "a string of at least 32 bytes",
);
