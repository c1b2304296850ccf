/**
 * Cookies of the admin listener. A browser accepts a cookie with the prefix `__Host-` only from this host, over TLS or
 * on loopback.
 */
import type { IncomingMessage } from "node:http";

/** Secret of a console session. */
export const SESSION_COOKIE = "__Host-drs-session";
/** Secret of a sign-in in progress. */
export const SIGN_IN_COOKIE = "__Host-drs-sign-in";

const COOKIE_ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Lax";

/** The values of every cookie of this name. */
export function cookiesOf({ headers }: IncomingMessage, name: string): readonly string[] {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}

/** @param seconds how long the browser keeps the cookie; without it, until the browser closes. */
export const cookieOf = (name: string, value: string, seconds?: number): string =>
  `${name}=${value}; ${COOKIE_ATTRIBUTES}${seconds === undefined ? "" : `; Max-Age=${seconds}`}`;

export const noCookie = (name: string): string => cookieOf(name, "", 0);
