/** Cookies of the admin listener, and the origin of its pages. */
import type { IncomingMessage } from "node:http";

/**
 * How browsers reach the pages: at a public origin, or at this listener on loopback without TLS, where people sign in by
 * a link.
 */
export type Reach = PublicAddress | "loopback";

export interface PublicAddress {
  readonly origin: string;
  /** The path below which a proxy publishes the pages, such as `/devices`; empty at the root. */
  readonly prefix: string;
}

/** @param reach absent if no person can sign in. */
export const prefixOf = (reach: Reach | undefined): string => (typeof reach === "object" ? reach.prefix : "");

export interface Cookie {
  readonly name: string;
  readonly attributes: string;
}

/**
 * A browser accepts a cookie with the prefix `__Host-` only from this host, over TLS or on loopback. `Lax`, because the
 * page of the identity provider leads to the callback.
 */
const hostCookie = (name: string): Cookie => ({
  name: `__Host-${name}`,
  attributes: "Path=/; Secure; HttpOnly; SameSite=Lax",
});

/** Secret of a sign-in in progress. */
export const SIGN_IN_COOKIE = hostCookie("drs-sign-in");

const SESSION_COOKIE = hostCookie("drs-session");

/** The secret of a console session. On loopback, Safari keeps no `Secure` cookie, and all ports share their cookies. */
export const sessionCookie = (reach: Reach, { socket }: IncomingMessage): Cookie =>
  reach === "loopback"
    ? { name: `drs-session-${socket.localPort}`, attributes: "Path=/; HttpOnly; SameSite=Strict" }
    : SESSION_COOKIE;

/** The origin of the pages. On loopback it has several names; which of them a request uses was checked before. */
export const originOf = (reach: Reach, { headers }: IncomingMessage): string =>
  reach === "loopback" ? `http://${headers.host}` : reach.origin;

/** The values of every cookie of this name. */
export function cookiesOf({ headers }: IncomingMessage, { name }: Cookie): readonly string[] {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}

/** @param seconds how long the browser keeps the cookie; without it, until the browser closes. */
export const cookieOf = ({ name, attributes }: Cookie, value: string, seconds?: number): string =>
  `${name}=${value}; ${attributes}${seconds === undefined ? "" : `; Max-Age=${seconds}`}`;

export const noCookie = (cookie: Cookie): string => cookieOf(cookie, "", 0);
