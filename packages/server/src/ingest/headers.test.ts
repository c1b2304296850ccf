import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { headersOf } from "./headers.fixture.ts";
import { readHeaders } from "./headers.ts";
import { RejectedRequest } from "./request.ts";

/**
 * Returns the values of these headers, or the code of the rejection. Adds a valid idempotency key if the headers have
 * none.
 */
function read(headers: Record<string, string | readonly string[]>): unknown {
  const result = readHeaders(headersOf({ "idempotency-key": "key-1", ...headers }));
  return result instanceof RejectedRequest ? result.rejection.code : result;
}

describe("the header Idempotency-Key", () => {
  it.each(["k", "~".repeat(128), "!", '"quoted"', "a,b", "a;b=c", "{}", "0", "__proto__"])(
    "is accepted unchanged: %j",
    (key) => {
      expect(read({ "idempotency-key": key })).toMatchObject({ idempotencyKey: key });
    },
  );

  it.each([
    ["absent", []],
    ["empty", ""],
  ])("counts as missing when it is %s", (_, value) => {
    expect(read({ "idempotency-key": value })).toBe("idempotency-key-missing");
  });

  it.each([
    ["too long", "k".repeat(129)],
    ["a space", " "],
    ["a text with a space", "a b"],
    ["a text with a tab", "a\tb"],
    ["a text with a control character", "a\u007fb"],
    ["not ASCII", "é"],
    ["a text with a line end", "a\n"],
    ["sent twice", ["a", "b"]],
    ["sent twice with the same value", ["a", "a"]],
    ["sent twice, once empty", ["", "a"]],
    ["sent twice, both times empty", ["", ""]],
    ["sent twice and joined as in the Fetch standard", "a, b"],
  ])("is invalid when it is %s", (_, value) => {
    expect(read({ "idempotency-key": value })).toBe("idempotency-key-invalid");
  });

  it("is valid exactly if it has 1 to 128 visible ASCII characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 140 }), (key) => {
        const fits = key.length <= 128 && [...key].every((one) => one >= "!" && one <= "~");
        expect(read({ "idempotency-key": key })).toEqual(
          fits ? { idempotencyKey: key, encoding: "identity" } : "idempotency-key-invalid",
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe("the header Content-Type", () => {
  it("may be absent", () => {
    expect(read({ "content-type": [] })).toMatchObject({ encoding: "identity" });
  });

  it.each([
    "application/json",
    "Application/JSON",
    " application/json ",
    "application/json;",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "application/json; charset=utf8",
    'application/json; charset="utf-8"',
    "application/json; Charset=Utf-8",
    "application/json; profile=x; charset=utf-8",
    "application/json;\tversion=1",
  ])("is JSON in UTF-8: %j", (type) => {
    expect(read({ "content-type": type })).toMatchObject({ encoding: "identity" });
  });

  it.each([
    "",
    "text/plain",
    "text/json",
    "application/jsonp",
    "application/json5",
    "application/vnd.api+json",
    "application/json/x",
    "application/json, text/plain",
    "application/json text/plain",
    "application/json; charset=utf-16",
    "application/json; charset=iso-8859-1",
    'application/json; charset="utf-16"',
    "application/json; charset=utf-8; charset=utf-16",
    "application/json; charset=",
    "application/json; charset",
    "application/json; =utf-8",
    "multipart/form-data; boundary=application/json",
    "application/x-www-form-urlencoded",
  ])("is not JSON in UTF-8: %j", (type) => {
    expect(read({ "content-type": type })).toBe("media-type-unsupported");
  });

  it("is rejected when it occurs twice, even with the same value", () => {
    expect(read({ "content-type": ["application/json", "application/json"] })).toBe("media-type-unsupported");
  });
});

describe("the header Content-Encoding", () => {
  it.each<[string | readonly string[], string]>([
    [[], "identity"],
    ["", "identity"],
    ["identity", "identity"],
    ["Identity", "identity"],
    ["identity, identity", "identity"],
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    [" gzip ", "gzip"],
    ["x-gzip", "gzip"],
    ["gzip, identity", "gzip"],
    [["identity", "gzip"], "gzip"],
    [",gzip,", "gzip"],
  ])("is accepted: %j is %s", (encoding, expected) => {
    expect(read({ "content-encoding": encoding })).toMatchObject({ encoding: expected });
  });

  it.each<string | readonly string[]>([
    "deflate",
    "br",
    "zstd",
    "compress",
    "gzip, gzip",
    "gzip, br",
    ["gzip", "gzip"],
    "gzip;q=1",
    "*",
    "x",
    "gzip br",
  ])("is rejected: %j", (encoding) => {
    expect(read({ "content-encoding": encoding })).toBe("encoding-unsupported");
  });
});

it("the idempotency key is checked first, then the media type, then the encoding", () => {
  const bad = { "content-type": "text/plain", "content-encoding": "br" };
  expect(read({ ...bad, "idempotency-key": [] })).toBe("idempotency-key-missing");
  expect(read(bad)).toBe("media-type-unsupported");
});

it.each([
  ["no length", [], undefined],
  ["a length", "262144", 262_144],
  ["nonsense", "many", undefined],
  ["a negative length", "-1", undefined],
  ["two lengths that a host has joined", "5, 5", undefined],
  ["more digits than a number has", "9".repeat(16), undefined],
])("Content-Length with %s announces that or nothing", (_, value, length) => {
  expect(read({ "content-length": value })).toMatchObject({ length });
});
