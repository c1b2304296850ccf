import type { TransportRequest } from "./wire/transport.ts";

const LONE_SURROGATE = /[\ud800-\udfff]/u;

/**
 * The canonical form of a JSON value by RFC 8785 (JCS): members sorted by UTF-16 code units, numbers as ECMAScript
 * prints doubles, no white space. Two values are equal if their canonical forms are.
 *
 * @throws TypeError for a number that is not finite, half a surrogate pair, or a value that JSON can't represent.
 */
export function canonicalize(value: unknown): string {
  if (typeof value === "string") return canonicalString(value);
  if (typeof value === "boolean" || value === null) return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError("a number that is not finite has no canonical form");
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(",")}]`;
  if (typeof value === "object") {
    const members = Object.keys(value).sort();
    const object = value as Record<string, unknown>;
    return `{${members.map((name) => `${canonicalString(name)}:${canonicalize(object[name])}`).join(",")}}`;
  }
  throw new TypeError(`a ${typeof value} has no canonical form`);
}

function canonicalString(value: string): string {
  if (LONE_SURROGATE.test(value)) throw new TypeError("half a surrogate pair has no canonical form");
  return JSON.stringify(value);
}

/**
 * The canonical form of a whole transport request. An absent `app_version` counts as an empty one. Two requests with
 * one idempotency key count as the same request exactly if these texts are equal.
 */
export function canonicalRequest(request: TransportRequest): string {
  return canonicalize({ ...request, app_version: request.app_version ?? "" });
}

/**
 * The hash of the canonical form. The caller passes the hash function, because no hash function exists in every
 * runtime.
 *
 * @param sha256 hashes the UTF-8 encoding of the text.
 */
export function canonicalHash<Digest>(request: TransportRequest, sha256: (text: string) => Digest): Digest {
  return sha256(canonicalRequest(request));
}
