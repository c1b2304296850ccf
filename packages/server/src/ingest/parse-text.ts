import { isAscii, isUtf8 } from "node:buffer";
import { type ViolationCode, LIMITS } from "@device-risk-signals/contract";
import { setImmediate as nextTurn } from "node:timers/promises";
import { readInTurns, readJson, TextError } from "../base/json/read-json.ts";
import { RejectedRequest } from "./request.ts";
import { scanText, type TextScan } from "../base/json/scan-text.ts";

/**
 * Parses bytes, and rejects bytes that are not UTF-8, not JSON (RFC 8259) or not I-JSON (RFC 7493). `JSON.parse` does
 * not report violations of I-JSON: duplicate names, lone surrogates, numbers beyond a double, deep nesting.
 *
 * If a text has as many colons outside its strings as its value has members, no name occurs twice in it. If it has no
 * Unicode escape, it has no lone surrogate. Nearly every request passes these checks. The server reads a text member by
 * member if it fails a check or has an escape in a name, and always if it is large (`parseTextInTurns`).
 *
 * @param scan the result of `scanText` for these bytes.
 */
export function parseText(bytes: Buffer, scan: TextScan = scanText(bytes)): unknown {
  const text = decode(bytes);
  if (text instanceof RejectedRequest) return text;
  const value = parseSyntax(text);
  if (value instanceof RejectedRequest) return value;
  if (!scan.escapes && scan.members === countMembers(value, 1)) return value;
  const read = readJson(text);
  return read instanceof TextError ? invalid(read.code, read.detail, read.pointer) : read;
}

/**
 * A text with more bytes or members than these is read in turns. The limits are four times those of a request that
 * costs 1 (`cost.ts`).
 */
const LARGE_BYTES = 65_536;
const LARGE_MEMBERS = 4_096;

/** Parses a text. It reads a large text in short turns, and the server answers other requests between them. */
export async function parseTextInTurns(bytes: Buffer, scan: TextScan = scanText(bytes)): Promise<unknown> {
  if (bytes.length <= LARGE_BYTES && scan.members <= LARGE_MEMBERS) return parseText(bytes, scan);
  const text = decode(bytes);
  if (text instanceof RejectedRequest) return text;
  const reading = readInTurns(text);
  for (;;) {
    const { done, value } = reading.next();
    await nextTurn();
    if (!done) continue;
    if (!(value instanceof TextError)) return value;
    // If the text has a syntax error anywhere, that error is reported instead.
    const parsed = parseSyntax(text);
    return parsed instanceof RejectedRequest ? parsed : invalid(value.code, value.detail, value.pointer);
  }
}

function decode(bytes: Buffer): string | RejectedRequest {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return invalid("byte-order-mark", "the body must not start with a byte order mark");
  }
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return invalid("utf8-invalid", "the body is not UTF-8");
  return bytes.toString(ascii ? "latin1" : "utf8");
}

function parseSyntax(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return invalid("json-invalid", `the body is not one JSON text${describePosition(error, text)}`);
  }
}

function invalid(code: ViolationCode, detail: string, pointer = ""): RejectedRequest {
  return new RejectedRequest({ code: "text-invalid", errors: [{ pointer, code, detail }] });
}

/**
 * Says where `JSON.parse` stopped. Only the number in its error message is used, because the rest of the message quotes
 * the text.
 */
function describePosition(error: unknown, text: string): string {
  const position = /at position (\d{1,9})/.exec((error as Error).message)?.[1];
  return position === undefined ? `, or ends too early (${text.length} characters)` : ` (at character ${position})`;
}

/**
 * Counts the members of a value at all depths. Returns `NaN` if the value is nested too deep or contains a number that
 * overflowed.
 */
function countMembers(value: unknown, level: number): number {
  if (typeof value === "number") return Number.isFinite(value) ? 0 : Number.NaN;
  if (typeof value !== "object" || value === null) return 0;
  if (level > LIMITS.nesting) return Number.NaN;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += countMembers(item, level + 1);
    return members;
  }
  for (const name in value) members += 1 + countMembers((value as Record<string, unknown>)[name], level + 1);
  return members;
}
