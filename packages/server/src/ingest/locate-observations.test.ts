import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomEvent } from "../../../../e2e/support/random-event.ts";
import { locateObservations } from "./locate-observations.ts";

const space = fc.constantFrom("", "", " ", "\n", "\t", "\r\n  ");

/** Strings that could mislead the search if another member contains them. */
const bait = fc.constantFrom(
  '"',
  "\\",
  '\\"',
  "}",
  "{",
  ",",
  ":",
  '"observations":{}',
  ', "observations" : {"a":1} }',
  "observations",
  "é",
  "\u{1F600}",
  "\u0000",
  "",
);

const string = fc
  .array(fc.oneof(bait, fc.string({ unit: "binary", maxLength: 4 })), { maxLength: 6 })
  .map((parts) => parts.join(""));

/**
 * Writes a text as a string literal. `how` selects the characters that are escaped; 0 escapes only what JSON requires.
 */
function spell(text: string, how: number): string {
  const characters = text.split("");
  return `"${characters
    .map((unit, at) => {
      const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
      return (how + at) % 3 === 0 && how > 0 ? escaped : JSON.stringify(unit).slice(1, -1);
    })
    .join("")}"`;
}

const literal = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.nat(5)).map(([plain, how]) => spell(plain, how));

const OTHERS = ["action_id", "action_type", "sdk_version", "platform", "app_version"];

const member = (name: string): fc.Arbitrary<string> =>
  fc
    .tuple(literal(fc.constant(name)), space, space, literal(string), space)
    .map(([key, before, after, value, end]) => `${key}${before}:${after}${value}${end}`);

describe("the bytes of `observations`", () => {
  it("are found with any other members around them, in any order, with any escapes and white space", () => {
    const scene = fc.record({
      event: randomEvent("session-1", "2026-03-01T12:00:00Z"),
      key: literal(fc.constant("observations")),
      others: fc.shuffledSubarray(OTHERS).chain((names) => fc.tuple(...names.map(member))),
      at: fc.nat(5),
      spaces: fc.array(space, { minLength: 12, maxLength: 12 }),
    });
    fc.assert(
      fc.property(scene, ({ event, key, others, at, spaces }) => {
        const gaps = spaces[Symbol.iterator]();
        const gap = (): string => gaps.next().value ?? "";
        const observations = `${key}${gap()}:${gap()}${event}${gap()}`;
        const members = others.toSpliced(at % (others.length + 1), 0, observations);
        const body = Buffer.from(`${gap()}{${members.map((one) => gap() + one).join(",")}}${gap()}`);
        // The search requires a body that is valid JSON.
        expect(() => JSON.parse(body.toString()) as unknown).not.toThrow();
        expect(locateObservations(body).equals(Buffer.from(event))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ["without other members", '{"observations":{}}', "{}"],
    ["first", '{"observations":{"a":"}"},"b":"c"}', '{"a":"}"}'],
    ["last", '{"b":"c","observations":{"a":"}"}}', '{"a":"}"}'],
    ["before a string that ends in an escaped backslash", String.raw`{"observations":{"a":1},"b":"c\\"}`, '{"a":1}'],
    ["before a string that ends in an escaped quote", String.raw`{"observations":{"a":1},"b":"c\\\""}`, '{"a":1}'],
    ["before an empty string", '{"observations":{"a":1},"b":""}', '{"a":1}'],
    ["after a string of quotes", String.raw`{"b":"\"\"\"","observations":{"a":1}}`, '{"a":1}'],
    ["after a member whose value names it", '{"b":"observations","observations":{"a":1}}', '{"a":1}'],
    ["under an escaped name", String.raw`{"\u006Fbservations":{"a":1}}`, '{"a":1}'],
    ["holding a member of its own name", '{"observations":{"observations":{"a":1}}}', '{"observations":{"a":1}}'],
    ["with space inside that is kept", '{ "observations" : { "a" : 1 } }', '{ "a" : 1 }'],
  ])("are found %s", (_, body, expected) => {
    expect(locateObservations(Buffer.from(body)).toString()).toBe(expected);
  });

  it("are found in linear time among backslashes and quotes", () => {
    const hostile = '\\\\\\"'.repeat(40_000);
    const body = Buffer.from(`{"observations":{"a":1},"b":"${hostile}"}`);
    const started = performance.now();
    expect(locateObservations(body).toString()).toBe('{"a":1}');
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
