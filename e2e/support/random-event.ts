/** Generates texts of raw events: JSON that the contract allows, in many of the spellings that JSON allows. */
import fc from "fast-check";

const space = fc.constantFrom("", "", "", " ", "\n", "\t", "\r\n", "  ");

/**
 * A string literal whose characters are unchanged or escaped, with hexadecimal digits in upper or lower case, and with
 * surrogate pairs where they are needed.
 */
const literal = (characters: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(characters, fc.nat(3)), { maxLength: 12 })
    .map((parts) => `"${parts.map(([c, how]) => spell(c, how)).join("")}"`);

function spell(character: string, how: number): string {
  const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  const plain = JSON.stringify(character).slice(1, -1);
  if (how === 1) return units.map((unit) => `\\u${unit}`).join("");
  if (how === 2) return units.map((unit) => `\\u${unit.toUpperCase()}`).join("");
  return how === 3 && character === "/" ? "\\/" : plain;
}

const character = fc.oneof(
  fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  fc.constantFrom("\u0000", "\uFFFD", "\uFFFF", "\u{1F600}", "é", "\u2028", "/", "\\", '"', "\u007F"),
);

const number = fc.oneof(
  fc.constantFrom(
    "0",
    "-0",
    "1.0",
    "1e2",
    "1E+2",
    "1.230e-5",
    "12345678901234567890",
    "0.1000000000000000055",
    "5e-324",
    "1e-400",
    "-1.50",
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
);

const NAMES = ["__proto__", "constructor", "toString", "status", "data", "hasOwnProperty", "0", "", "isEmulator"];

/** Members with different names. Of members whose names decode to the same text, only one stays. */
function members(value: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string[]> {
  const name = fc.oneof(
    literal(character),
    fc.constantFrom(...NAMES).map((plain) => JSON.stringify(plain)),
  );
  return fc
    .array(fc.tuple(name, value, space, space), { maxLength })
    .map((list) => {
      const seen = new Set<string>();
      return list.filter(([raw]) => {
        const decoded = JSON.parse(raw) as string;
        return !seen.has(decoded) && seen.add(decoded);
      });
    })
    .map((list) => list.map(([raw, text, before, after]) => `${before}${raw}${after}:${text}`));
}

const json = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: "small" },
    number,
    literal(character),
    fc.constantFrom("true", "false", "null"),
    fc.array(tie("value"), { maxLength: 5 }).map((items) => `[${items.join(" ,")}]`),
    tie("object"),
  ),
  object: members(tie("value"), 5).map((list) => `{${list.join(",")}}`),
}));

const outcome = fc.oneof(
  json.object.map((data) => `{"status":"success","data":${data}}`),
  json.object.map((data) => `{ "data" : ${data} , "st\\u0061tus" : "success" }`),
  literal(character).map((reason) => `{"status":"skipped","reason":${reason}}`),
  fc.constant('{"status":"timeout"}'),
  literal(character).map((error) => `{"error":${error},"status":"error"}`),
);

/** The text of a raw event that the endpoint must accept. */
export function randomEvent(sessionId: string, collectedAt: string): fc.Arbitrary<string> {
  const requiredMembers = [
    `"session_id":${JSON.stringify(sessionId)}`,
    `"event_type":"device_intel_collection"`,
    `"schema_version":1.0`,
    `"collected_at":"${collectedAt}"`,
  ];
  const extra = members(json.value, 2).map((list) => list.filter((member) => !/"(status|data)"/.test(member)));
  return fc
    .tuple(
      members(outcome, 8),
      extra,
      space,
      fc.shuffledSubarray(requiredMembers, { minLength: requiredMembers.length, maxLength: requiredMembers.length }),
    )
    .map(([probes, others, gap, envelope]) => {
      const all = [...envelope, `"probes"${gap}:${gap}{${probes.join(",")}}`, ...others];
      return `{${gap}${all.join(`${gap},`)}${gap}}`;
    });
}
