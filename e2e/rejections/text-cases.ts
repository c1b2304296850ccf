/** Cases of row 8: bodies that are no I-JSON text. */
import type { Case } from "./case.ts";
import { change, OBSERVATIONS_POINTER, PROBES_POINTER, set, text400, textError } from "./build-case.ts";

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { deep: value };
  return value;
};

/** The pointer of the container at the given depth inside `nested(levels)`. */
const nestedPointer = (levels: number, steps: number): string => {
  let pointer = "";
  for (let step = 0; step < steps; step++) pointer += (levels - 1 - step) % 2 === 0 ? "/0" : "/deep";
  return pointer;
};

export const TEXT_CASES: readonly Case[] = [
  textError("an empty body", text400("json-invalid"), () => ""),
  textError("a body cut short", text400("json-invalid"), (text) => text.slice(0, -1)),
  textError("bytes after the JSON text", text400("json-invalid"), (text) => `${text}x`),
  textError("two JSON texts", text400("json-invalid"), (text) => text + text),
  textError("a trailing comma", text400("json-invalid"), (text) => text.replace(/\}$/, ",}")),
  textError("a comment", text400("json-invalid"), (text) => `/* */${text}`),
  textError("NaN", text400("json-invalid"), (text) => text.replace('"sensorCount":23', '"sensorCount":NaN')),
  textError("a byte order mark", text400("byte-order-mark"), (text) => `\uFEFF${text}`),
  textError("UTF-16", text400("utf8-invalid"), (text) => Buffer.from(`\uFEFF${text}`, "utf16le")),
  textError("a lone continuation byte", text400("utf8-invalid"), (text) => inText(text, [0x80])),
  textError("an overlong encoding", text400("utf8-invalid"), (text) => inText(text, [0xc0, 0xaf])),
  textError("a surrogate in UTF-8", text400("utf8-invalid"), (text) => inText(text, [0xed, 0xa0, 0x80])),
  textError("beyond U+10FFFF", text400("utf8-invalid"), (text) => inText(text, [0xf4, 0x90, 0x80, 0x80])),
  textError("a duplicate member of the transport", text400("duplicate-member", "/action_id"), (text) =>
    text.replace("{", '{"action_id":"first",'),
  ),
  textError(
    "a duplicate member of the envelope",
    text400("duplicate-member", `${OBSERVATIONS_POINTER}/session_id`),
    (text) => text.replace('"observations":{', '"observations":{"session_id":"first",'),
  ),
  textError("a duplicate probe", text400("duplicate-member", `${PROBES_POINTER}/fonts`), (text) =>
    text.replace('"probes":{', '"probes":{"fonts":{"status":"timeout"},'),
  ),
  textError(
    "a duplicate member with the same value",
    text400("duplicate-member", `${PROBES_POINTER}/fonts/status`),
    (text) => text.replace('"status":"error"', '"status":"error","status":"error"'),
  ),
  textError(
    "a duplicate field deep in unknown data",
    text400("duplicate-member", `${PROBES_POINTER}/new/data/list/1/x`),
    (text) =>
      text.replace('"probes":{', '"probes":{"new":{"status":"success","data":{"list":[{"x":1},{"x":1,"y":2,"x":3}]}},'),
  ),
  textError(
    "a duplicate name spelt with an escape",
    text400("duplicate-member", `${PROBES_POINTER}/fonts/status`),
    (text) => text.replace('"status":"error"', '"status":"error","st\\u0061tus":"error"'),
  ),
  textError("a duplicate __proto__", text400("duplicate-member", `${PROBES_POINTER}/fonts/__proto__`), (text) =>
    text.replace('"status":"error"', '"__proto__":1,"__proto__":2,"status":"error"'),
  ),
  textError("a lone high surrogate", text400("lone-surrogate", `${PROBES_POINTER}/fonts/error`), (text) =>
    text.replace("unreadable", "\\ud83d"),
  ),
  textError("a lone low surrogate", text400("lone-surrogate", `${PROBES_POINTER}/fonts/error`), (text) =>
    text.replace("unreadable", "\\uDE00 x"),
  ),
  textError("surrogates in the wrong order", text400("lone-surrogate", `${PROBES_POINTER}/fonts/error`), (text) =>
    text.replace("unreadable", "\\ude00\\ud83d"),
  ),
  textError("a lone surrogate in a name", text400("lone-surrogate", `${PROBES_POINTER}/os_integrity/data`), (text) =>
    text.replace('"sensorCount"', '"\\ud800"'),
  ),
  textError("1e400", text400("number-overflow", `${PROBES_POINTER}/os_integrity/data/sensorCount`), (text) =>
    text.replace('"sensorCount":23', '"sensorCount":1e400'),
  ),
  textError("-1e400", text400("number-overflow", `${PROBES_POINTER}/os_integrity/data/sensorCount`), (text) =>
    text.replace('"sensorCount":23', '"sensorCount":-1e400'),
  ),
  textError("400 digits", text400("number-overflow", `${PROBES_POINTER}/os_integrity/data/sensorCount`), (text) =>
    text.replace('"sensorCount":23', `"sensorCount":${"9".repeat(400)}`),
  ),
  change(
    8,
    "nesting of 65",
    text400("nesting-too-deep", `${PROBES_POINTER}/os_integrity/data/deep${nestedPointer(60, 59)}`),
    (request) => set(request, `${PROBES_POINTER}/os_integrity/data/deep`, nested(60)),
  ),
  textError(
    "100,000 brackets",
    text400("nesting-too-deep", "/0".repeat(64)),
    () => "[".repeat(100_000) + "]".repeat(100_000),
  ),
];

function inText(text: string, bytes: readonly number[]): Uint8Array {
  const at = text.indexOf("unreadable");
  return Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bytes), Buffer.from(text.slice(at))]);
}
