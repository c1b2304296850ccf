/**
 * Checks where a sign-in may send a browser. An open redirect would let a link with this server's name lead to another
 * site.
 */
import { AdminError } from "../../operations/problem.ts";

/** The base of relative paths. Any origin will do, because only the origin of a resolved path is compared with it. */
const OWN_ORIGIN = "https://here.invalid";

/** @returns the path, query and fragment as the browser will interpret them. @throws AdminError request-invalid */
export function localPath(text: string): string {
  const url = text.startsWith("/") ? URL.parse(text, OWN_ORIGIN) : null;
  // guard(false): a sign-in ends at a page of this server
  if (url?.origin !== OWN_ORIGIN || url.pathname.startsWith("//"))
    throw refused("return", "is not a path of this server");
  return `${url.pathname}${url.search}${url.hash}`;
}

/**
 * Accepts only an `http:` URI with a loopback address and a port. A host name is rejected, because it may resolve to
 * other addresses (RFC 8252 §7.3).
 * @throws AdminError request-invalid
 */
export function loopbackUri(text: string): string {
  const url = URL.parse(text);
  const isLoopback = url?.hostname === "127.0.0.1" || url?.hostname === "[::1]";
  // guard(false): a code of `drs login` stays on the machine
  if (!url || url.protocol !== "http:" || !isLoopback || url.port === "" || url.username !== "" || url.search !== "") {
    throw refused("redirect_uri", "is not http://127.0.0.1:PORT/PATH");
  }
  return url.href;
}

const refused = (name: string, detail: string): AdminError =>
  new AdminError("request-invalid", { errors: [{ where: `querystring/${name}`, detail }] });
