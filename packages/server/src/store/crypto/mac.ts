import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

/** HMAC-SHA-256 (RFC 2104). */
export const macOf = (key: KeyObject | string, signed: Buffer | string): Buffer =>
  createHmac("sha256", key).update(signed).digest();

/** Whether this is the MAC of what was signed. The time of the comparison does not depend on the bytes. */
export function isMacOf(key: KeyObject, signed: Buffer | string, mac: Buffer): boolean {
  const expected = macOf(key, signed);
  return mac.length === expected.length && timingSafeEqual(expected, mac);
}
