import ipaddr from "ipaddr.js";
import { LimitedMap } from "../caches/limited-map.ts";

/** `192.0.2.1:4711`, `::ffff:192.0.2.1:4711`, `[2001:db8::1]:4711` or `[2001:db8::1]`, as proxies append them. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d+)?|([^:]+|[:f\d]+:\d+\.\d+\.\d+\.\d+):\d+)$/i;

/**
 * Returns the part of an address that counts as one source: an IPv4 address, or the /64 of an IPv6 address, because an
 * access provider gives each customer a whole /64. Every spelling of an address, with a port or without, gives the same
 * source; a text that is no address is returned without the spaces around it.
 */
export function sourceOf(peer: string): string {
  const known = remembered.get(peer);
  if (known !== undefined) return known;
  const source = readSource(peer);
  if (peer.length <= MAX_REMEMBERED_LENGTH) remembered.set(peer, source);
  return source;
}

/** Results by address: a connection sends many requests, and a lookup is faster than parsing the address again. */
const remembered = new LimitedMap<string>(4_096);
const MAX_REMEMBERED_LENGTH = 64;

function readSource(peer: string): string {
  const text = peer.trim();
  const [, bracketed, bare] = WITH_PORT.exec(text) ?? [];
  const address = bracketed ?? bare ?? text;
  // Leading zeros are dropped: C reads a number with a leading zero as octal, but no proxy writes octal.
  const decimal = address.replaceAll(/(?<!\d)0+(?=\d)/g, "");
  if (ipaddr.IPv4.isValidFourPartDecimal(decimal)) return decimal;
  if (!ipaddr.IPv6.isValid(address)) return text;
  const ip = ipaddr.IPv6.parse(address);
  if (ip.isIPv4MappedAddress()) return ip.toIPv4Address().toString();
  const network = ip.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
