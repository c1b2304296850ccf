/** The `Host` of a request (RFC 9112 §3.2). */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/** Whether the request names its host once; HTTP/1.0 may leave it out. */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let lines = 0;
  // `headers` has only the first `Host` line, and Node would build `headersDistinct` only for this check.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === "host") lines++;
  }
  return lines === 1 || (lines === 0 && httpVersion === "1.0");
}

/**
 * Whether a request is meant for this listener, and not for a foreign name whose DNS points at it: by DNS rebinding a
 * web page reaches a private listener under the page's own name, never under an address.
 *
 * @param names host names in addition to IP addresses and loopback names, in lower case.
 */
export function isForListener(request: IncomingMessage, names: readonly string[]): boolean {
  // The authority of the target takes precedence over the header.
  const [, authority = request.headers.host] = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? "") ?? [];
  if (authority === undefined) return true;
  const host = hostOf(authority);
  return isIP(host) !== 0 || host === "localhost" || host.endsWith(".localhost") || names.includes(host);
}

/** The host without port, brackets and a final dot, in lower case. */
function hostOf(authority: string): string {
  const [, address, name = ""] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d*)?$/.exec(authority) ?? [];
  return address ?? name.toLowerCase().replace(/\.$/, "");
}
