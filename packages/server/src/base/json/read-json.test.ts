import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseText } from "../../ingest/parse-text.ts";
import { readJson, TextError } from "./read-json.ts";
import { RejectedRequest } from "../../ingest/request.ts";

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Arbitrary names and texts, and some that a careless scanner reads wrongly. */
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom(
    "",
    "__proto__",
    "constructor",
    "a/b",
    "~",
    "~1",
    '"',
    "\\",
    '\\"',
    "{",
    "}",
    ",",
    ":",
    "[",
    "\u2028",
    "é",
    "\u{1F600}",
    "0",
    "1e400",
    "\ufffd",
  ),
);

const { json } = fc.letrec<{ json: Json; list: Json[]; object: Record<string, Json> }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, depthSize: "medium" },
    text,
    // Adding 0 converts minus zero to zero, because JSON.stringify prints both as 0.
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.constantFrom(true, false, null),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("json"), { maxLength: 4 }),
  // Objects are created from entries, so that "__proto__" is a member like any other.
  object: fc
    .uniqueArray(fc.tuple(text, tie("json")), { maxLength: 5, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries)),
}));

type Path = readonly (string | number)[];

/** Returns the path of each value for which `isWanted` is true, at all depths. */
function pathsOf(value: Json, isWanted: (value: Json) => boolean, path: Path = []): Path[] {
  const inside =
    typeof value !== "object" || value === null
      ? []
      : Object.entries(value).flatMap(([name, member]) =>
          pathsOf(member as Json, isWanted, [...path, Array.isArray(value) ? Number(name) : name]),
        );
  return isWanted(value) ? [path, ...inside] : inside;
}

const isObject = (value: Json): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

/** Writes a path as a JSON Pointer (RFC 6901), independently of the implementation under test. */
const pointer = (path: Path): string =>
  path.map((name) => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Prints a value as JSON. `spell` selects white space and escapes, and `edit` may replace the text of a value. */
function print(
  value: Json,
  spell: () => number,
  edit: (path: Path, plain: () => string) => string,
  path: Path = [],
): string {
  const space = (): string => [" ", "", "\n", "", "\t", "", "\r\n"][spell() % 7] ?? "";
  const string = (plain: string): string => {
    if (spell() % 4 !== 0) return JSON.stringify(plain);
    const units = plain.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    return `"${units.join("")}"`;
  };
  const plain = (): string => {
    if (typeof value === "string") return string(value);
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const inside = (name: string | number, member: Json): string =>
      space() + print(member, spell, edit, [...path, name]) + space();
    if (Array.isArray(value)) return `[${value.map((item, index) => inside(index, item)).join(",") || space()}]`;
    const members = Object.entries(value).map(
      ([name, member]) => `${space()}${string(name)}${space()}:${inside(name, member)}`,
    );
    return `{${members.join(",") || space()}}`;
  };
  return edit(path, plain);
}

const spelling = fc.infiniteStream(fc.nat(1_000)).map((stream) => () => stream.next().value as number);
const asIs = (_: Path, plain: () => string): string => plain();

/**
 * Reads a text with `readJson` and `parseText`, requires that both have the same result, and returns the error, if any.
 */
function errorIn(body: string): { pointer: string; code: string } | undefined {
  const read = readJson(body);
  const parsed = parseText(Buffer.from(body));
  const result = parsed instanceof RejectedRequest ? parsed.rejection.errors[0] : parsed;
  expect(result).toEqual(read instanceof TextError ? { ...read } : read);
  return read instanceof TextError ? { pointer: read.pointer, code: read.code } : undefined;
}

const RUNS = { numRuns: 500 };

describe("a text without error", () => {
  it("parses to its value, with any white space and escapes", () => {
    fc.assert(
      fc.property(json, spelling, (value, spell) => {
        const body = print(value, spell, asIs);
        expect(errorIn(body)).toBeUndefined();
        expect(parseText(Buffer.from(body))).toEqual(value);
      }),
      RUNS,
    );
  });

  it("parses to its value as JSON.stringify prints it", () => {
    fc.assert(
      fc.property(json, (value) => {
        const body = JSON.stringify(value);
        expect(errorIn(body)).toBeUndefined();
        expect(parseText(Buffer.from(body))).toEqual(value);
      }),
      RUNS,
    );
  });
});

describe("a name that is written with an escape", () => {
  const parsed = (body: string): unknown => parseText(Buffer.from(body));

  it.each([
    ["a Unicode escape", String.raw`{"y":1,"\u0061":2}`, { y: 1, a: 2 }],
    ["a line feed", String.raw`{"y":1,"\n":2}`, { y: 1, "\n": 2 }],
    ["a slash, before white space", String.raw`{"y":1,"\/" : 2}`, { y: 1, "/": 2 }],
    ["a quote, in a nested object", String.raw`[{"y":1,"\"":2}]`, [{ y: 1, '"': 2 }]],
  ])("is not confused with a name of an earlier text: %s", (_, body, value) => {
    expect(parsed(String.raw`{"y":1,"\\":2}`)).toEqual({ y: 1, "\\": 2 });
    expect(parsed(body)).toEqual(value);
  });
});

describe("one error in any JSON text is found and located", () => {
  it("if a name occurs twice in an object at any depth, with or without escapes", () => {
    fc.assert(
      fc.property(json, spelling, fc.nat(), fc.nat(), fc.boolean(), (value, spell, which, member, escaped) => {
        const objects = pathsOf(value, (one) => isObject(one) && Object.keys(one as object).length > 0);
        fc.pre(objects.length > 0);
        const at = objects[which % objects.length] as Path;
        let name = "";
        const body = print(value, spell, (path, plain) => {
          if (pointer(path) !== pointer(at)) return plain();
          const printed = plain();
          const names = Object.keys(readJson(printed) as object);
          name = names[member % names.length] as string;
          const again = escaped
            ? `"${name
                .split("")
                .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
                .join("")}"`
            : JSON.stringify(name);
          return `${printed.slice(0, -1)}, ${again} : 0 }`;
        });
        expect(errorIn(body)).toEqual({ pointer: pointer([...at, name]), code: "duplicate-member" });
      }),
      RUNS,
    );
  });

  const values: readonly (readonly [string, string])[] = [
    ["lone-surrogate", String.raw`"\ud800"`],
    ["lone-surrogate", String.raw`"a\udc00\ud800b"`],
    ["lone-surrogate", String.raw`"\uD83D\uD83D\uDE00"`],
    ["number-overflow", "1e400"],
    ["number-overflow", "-1E+999"],
    ["number-overflow", `1${"0".repeat(310)}`],
  ];
  it.each(values)("if a value is a %s: %s", (code, printed) => {
    fc.assert(
      fc.property(json, spelling, fc.nat(), (value, spell, which) => {
        const all = pathsOf(value, () => true);
        const at = all[which % all.length] as Path;
        const body = print(value, spell, (path, plain) => (pointer(path) === pointer(at) ? printed : plain()));
        expect(errorIn(body)).toEqual({ pointer: pointer(at), code });
      }),
      { numRuns: 100 },
    );
  });

  it("if a name has half a surrogate pair, reported at its object", () => {
    fc.assert(
      fc.property(json, spelling, fc.nat(), (value, spell, which) => {
        const objects = pathsOf(value, isObject);
        fc.pre(objects.length > 0);
        const at = objects[which % objects.length] as Path;
        const body = print(value, spell, (path, plain) => {
          if (pointer(path) !== pointer(at)) return plain();
          const printed = plain();
          const comma = Object.keys(readJson(printed) as object).length > 0 ? "," : "";
          return String.raw`${printed.slice(0, -1)}${comma} "x\ud800" : 0 }`;
        });
        expect(errorIn(body)).toEqual({ pointer: pointer(at), code: "lone-surrogate" });
      }),
      RUNS,
    );
  });
});

describe("a JSON text that only looks wrong", () => {
  it.each([
    ["the same name in two objects", '{"a":{"b":1},"c":{"b":1}}'],
    ["the same name in an object and its member", '{"a":{"a":{"a":1}}}'],
    ["the same text as name and as value", '{"a":"a"}'],
    ["equal items of a list", '["a","a",{"a":1},{"a":1}]'],
    ["a name that is a duplicate only in another case", '{"a":1,"A":1}'],
    ["a name in two forms of Unicode", '{"é":1,"e\u0301":1}'],
    ["names of members of Object.prototype", '{"__proto__":1,"constructor":1,"toString":1,"hasOwnProperty":1}'],
    ["a pair of surrogates", String.raw`"\ud83d\ude00"`],
    ["an escaped backslash before what looks like an escape", String.raw`{"a":"\\ud800"}`],
    ["the largest double", "1.7976931348623157e308"],
    ["a number that underflows", "1e-400"],
    ["minus zero", "-0"],
    ["a text that overflows as a number", '"1e400"'],
    ["a noncharacter", '"\uffff"'],
    ["U+0000, escaped", String.raw`"\u0000"`],
  ])("has no error: %s", (_, body) => {
    expect(errorIn(body)).toBeUndefined();
  });
});

describe("bytes that are not JSON in UTF-8", () => {
  const rejectionOf = (bytes: Buffer) => {
    const parsed = parseText(bytes);
    expect(parsed).toBeInstanceOf(RejectedRequest);
    return (parsed as RejectedRequest).rejection;
  };

  it.each([
    ["byte-order-mark", Buffer.from("\ufeff{}")],
    ["utf8-invalid", Buffer.from([0x22, 0xff, 0x22])],
    ["utf8-invalid", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["utf8-invalid", Buffer.from([0x22, 0xc0, 0x80, 0x22])],
    ["utf8-invalid", Buffer.from([0x22, 0xe2, 0x82, 0x22])],
    ["utf8-invalid", Buffer.from([0x22, 0xf5, 0x80, 0x80, 0x80, 0x22])],
    ["json-invalid", Buffer.from("")],
    ["json-invalid", Buffer.from(" ")],
    ["json-invalid", Buffer.from('{"a":1')],
    ["json-invalid", Buffer.from("{} {}")],
    ["json-invalid", Buffer.from("{'a':1}")],
    ["json-invalid", Buffer.from("NaN")],
    ["json-invalid", Buffer.from("01")],
    ["json-invalid", Buffer.from('"a\nb"')],
    ["json-invalid", Buffer.from('{"a":1,}')],
    ["json-invalid", Buffer.from("\u00a0{}")],
  ])("are rejected as %s: %j", (code, bytes) => {
    expect(rejectionOf(bytes)).toMatchObject({ code: "text-invalid", errors: [{ pointer: "", code }] });
  });

  it("are never echoed in the rejection", () => {
    const { errors } = rejectionOf(Buffer.from('{"telling": telling}'));
    expect(JSON.stringify(errors)).not.toContain("telling");
  });

  it("are distinguished from a U+FFFD that the client sent", () => {
    expect(parseText(Buffer.from('"\ufffd"'))).toBe("\ufffd");
  });
});

describe("the nesting of a JSON text", () => {
  const nested = (levels: number, open: string, close: string): Buffer =>
    Buffer.from(`${open.repeat(levels)}1${close.repeat(levels)}`);

  it.each([
    ["objects", '{"a":', "}"],
    ["lists", "[", "]"],
  ])("of 64 %s is accepted, of 65 rejected", (_, open, close) => {
    expect(parseText(nested(64, open, close))).not.toBeInstanceOf(RejectedRequest);
    const parsed = parseText(nested(65, open, close));
    expect((parsed as RejectedRequest).rejection.errors).toMatchObject([
      { code: "nesting-too-deep", pointer: (open === "[" ? "/0" : "/a").repeat(64) },
    ]);
  });

  it("counts containers that are empty or that follow other values", () => {
    const late = `[1, {"x": 2}, ${"[".repeat(64)}${"]".repeat(64)}]`;
    expect(parseText(Buffer.from(late))).toBeInstanceOf(RejectedRequest);
    expect(parseText(Buffer.from(`[1, {"x": 2}, ${"[".repeat(63)}${"]".repeat(63)}]`))).not.toBeInstanceOf(
      RejectedRequest,
    );
  });

  it("of as many levels as fit into a body is rejected without a crash", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"":', "}"],
    ] as const) {
      expect(parseText(nested(100_000, open, close))).toBeInstanceOf(RejectedRequest);
    }
  });
});
