import { isAscii, isUtf8 } from "node:buffer";
import { type FaultCode, LIMITS, pointerOf } from "@device-risk-signals/contract";
import { Refusal } from "./request.ts";
import { scanText } from "./scan-text.ts";

/**
 * Bytes to value, refusing what is not UTF-8, not JSON (RFC 8259) or not I-JSON (RFC 7493), as far as `JSON.parse`
 * would hide it: duplicate names, lone surrogates, numbers beyond a double, deep nesting.
 *
 * A text that `JSON.stringify` prints back unchanged can hold no duplicate name and no overflowing number, and one
 * without `\u` holds no lone surrogate. Most SDKs send such texts; only the others are scanned.
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
  const deep = tooDeep(value, 1);
  if (deep) return invalid("nesting-too-deep", `nesting is deeper than ${LIMITS.nesting} levels`, pointerOf(deep));

  if (!text.includes("\\u") && JSON.stringify(value) === text) return value;
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

/** The way to a container below level 64, from the outside in; `undefined` where there is none. */
function tooDeep(value: unknown, level: number): (string | number)[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (level > LIMITS.nesting) return [];
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      const deep = typeof item === "object" ? tooDeep(item, level + 1) : undefined;
      if (deep) return [index, ...deep];
    }
    return undefined;
  }
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    const deep = typeof member === "object" ? tooDeep(member, level + 1) : undefined;
    if (deep) return [name, ...deep];
  }
  return undefined;
}
