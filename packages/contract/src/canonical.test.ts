import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalHash, canonicalize, canonicalRequest } from "./canonical.ts";
import { validRequest } from "./wire/request.fixture.ts";

const canonicalText = (json: string): string => canonicalize(JSON.parse(json));

describe("the canonical form of RFC 8785", () => {
  it("of the example in §3.2.2 equals the text in the RFC", () => {
    expect(
      canonicalText(String.raw`{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
      }`),
    ).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it("sorts members by UTF-16 code units, as in the example in §3.2.3", () => {
    const text = canonicalText(
      String.raw`{"\u20ac":0,"\r":0,"\ufb33":0,"1":0,"\ud83d\ude00":0,"\u0080":0,"\u00f6":0,"10":0,"9":0}`,
    );
    const order = ["\r", "1", "10", "9", "\u0080", "\u00f6", "\u20ac", "\u{1f600}", "\ufb33"];
    expect(text).toBe(`{${order.map((name) => `${JSON.stringify(name)}:0`).join(",")}}`);
  });

  /** The bits of a double and the text that RFC 8785 gives for it (Appendix B). */
  it.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("prints the double %s as %s", (bits, text) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    expect(canonicalize(view.getFloat64(0))).toBe(text);
  });

  it.each([
    ["1", "1.0"],
    ["100", "1e2"],
    ["0", "-0"],
    ["1e-7", "0.0000001"],
    ["9007199254740993", "9007199254740992"],
    [`"é"`, String.raw`"\u00e9"`],
    [`"/"`, String.raw`"\/"`],
    [`"😀"`, String.raw`"\ud83d\ude00"`],
    [`{"a":1,"b":2}`, ` { "b" : 2 ,\n"a":1 } `],
  ])("%s and %s are the same", (one, other) => {
    expect(canonicalText(one)).toBe(canonicalText(other));
  });

  it.each([
    ["1", `"1"`],
    ["true", `"true"`],
    ["null", "{}"],
    ["[]", "{}"],
    ["[1,2]", "[2,1]"],
    [`{"a":null}`, "{}"],
    [`"é"`, `"e\u0301"`],
    [`{"__proto__":{"a":1}}`, "{}"],
  ])("%s and %s differ", (one, other) => {
    expect(canonicalText(one)).not.toBe(canonicalText(other));
  });

  it("escapes only what must be escaped", () => {
    expect(canonicalize('\b\t\n\f\r"\\\u0000\u001f\u007f\u2028</script>')).toBe(
      `"${String.raw`\b\t\n\f\r\"\\\u0000\u001f`}\u007f\u2028</script>"`,
    );
  });

  it("keeps the order of arrays and sorts members at every depth", () => {
    expect(canonicalText(`[3,[{"b":[],"a":{}},[]],1]`)).toBe(`[3,[{"a":{},"b":[]},[]],1]`);
  });

  it.each([
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["undefined", undefined],
    ["a function", () => 1],
    ["a bigint", 1n],
    ["a symbol", Symbol("s")],
    ["half a surrogate pair", "a\ud800b"],
  ])("has no form for %s, at any depth", (_, value) => {
    expect(() => canonicalize(value)).toThrow(TypeError);
    expect(() => canonicalize({ a: [value] })).toThrow(TypeError);
  });

  it("does not exist for a member name with half a surrogate pair", () => {
    expect(() => canonicalText(String.raw`{"\ude00":1}`)).toThrow(TypeError);
  });
});

describe("the canonical form of any JSON values", () => {
  const json = fc.json().map((text): unknown => JSON.parse(text));

  function reversed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([name, member]) => [name, reversed(member)]),
    );
  }

  it("keeps every value, and is idempotent", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalize(value);
        expect(isDeepStrictEqual(JSON.parse(text), value)).toBe(true);
        expect(canonicalText(text)).toBe(text);
      }),
    );
  });

  it("does not depend on the order of members", () => {
    fc.assert(fc.property(json, (value) => canonicalize(reversed(value)) === canonicalize(value)));
  });

  it("is the same for two values if and only if the values are equal", () => {
    /** The values come from a small set, so that equal pairs are common. */
    const { small } = fc.letrec((tie) => ({
      small: fc.oneof(
        { maxDepth: 2 },
        fc.constantFrom<unknown>(null, true, 0, 1, "", "0"),
        fc.array(tie("small"), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom("a", "b", "0"), tie("small"), { maxKeys: 2, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(small, small, (one, other) => {
        expect(canonicalize(one) === canonicalize(other)).toBe(isDeepStrictEqual(one, other));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("the canonical form of a transport request", () => {
  const { app_version: _, ...without } = validRequest();

  it("without app_version equals the form of the same request with an empty app_version, and no other form", () => {
    expect(canonicalRequest(without)).toBe(canonicalRequest({ ...without, app_version: "" }));
    expect(canonicalRequest(without)).not.toBe(canonicalRequest({ ...without, app_version: "1" }));
  });

  it("differs if any member differs, including members of the event", () => {
    const changed = { ...without, observations: { ...without.observations, client_id: "other" } };
    expect(canonicalRequest(changed)).not.toBe(canonicalRequest(without));
    expect(canonicalRequest({ ...without, action_id: "other" })).not.toBe(canonicalRequest(without));
  });

  it("is hashed as text", () => {
    const digest = { of: "" };
    const returned = canonicalHash(without, (text) => {
      digest.of = text;
      return digest;
    });
    expect(returned).toBe(digest);
    expect(digest.of).toBe(canonicalize({ ...without, app_version: "" }));
  });
});
