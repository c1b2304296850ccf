import { isAscii, isUtf8 } from "node:buffer";
import { type FaultCode, LIMITS } from "@device-risk-signals/contract";
import { Refusal } from "./request.ts";
import { scanText } from "./scan-text.ts";

/**
 * Bytes to value, refusing what is not UTF-8, not JSON (RFC 8259) or not I-JSON (RFC 7493), as far as `JSON.parse`
 * would hide it: duplicate names, lone surrogates, numbers beyond a double, deep nesting.
 *
 * A text with as many colons outside its strings as its value has members holds no name twice, and one without a
 * Unicode escape no lone surrogate. Nearly every request is settled by these counts; only the others are scanned.
 */
export function parseText(bytes: Buffer): unknown {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return invalid("byte-order-mark", "the body must not start with a byte order mark");
  }
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return invalid("utf8-invalid", "the body is not UTF-8");
  const text = bytes.toString(ascii ? "latin1" : "utf8");

  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (fault) {
    return invalid("json-invalid", `the body is not one JSON text${placeOf(fault, text)}`);
  }
  if (colonsIn(bytes) === membersOf(value, 1)) return value;
  const fault = scanText(text);
  return fault ? invalid(fault.code, fault.detail, fault.pointer) : value;
}

function invalid(code: FaultCode, detail: string, pointer = ""): Refusal {
  return new Refusal({ code: "text-invalid", errors: [{ pointer, code, detail }] });
}

/** Where the parser stopped. Of its message only the number is used: the rest quotes the text. */
function placeOf(fault: unknown, text: string): string {
  const position = /at position (\d{1,9})/.exec((fault as Error).message)?.[1];
  return position === undefined ? `, or ends too early (${text.length} characters)` : ` (at character ${position})`;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const LOWER_U = 0x75;

/** Colons outside strings: as many as members, each counted as often as it stands there. `NaN` with a Unicode escape. */
function colonsIn(bytes: Buffer): number {
  const { length } = bytes;
  let colons = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === COLON) colons++;
    if (byte !== QUOTE) continue;
    for (at++; at < length; at++) {
      const inner = bytes[at];
      if (inner === QUOTE) break;
      if (inner !== BACKSLASH) continue;
      at++;
      if (bytes[at] === LOWER_U) return Number.NaN;
    }
  }
  return colons;
}

/** Members of a value at all depths; `NaN` where it is nested too deep or holds a number that overflowed. */
function membersOf(value: unknown, level: number): number {
  if (typeof value === "number") return Number.isFinite(value) ? 0 : Number.NaN;
  if (typeof value !== "object" || value === null) return 0;
  if (level > LIMITS.nesting) return Number.NaN;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += membersOf(item, level + 1);
    return members;
  }
  for (const name in value) members += 1 + membersOf((value as Record<string, unknown>)[name], level + 1);
  return members;
}
