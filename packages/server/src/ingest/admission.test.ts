import { describe, expect, it } from "vitest";
import { Admission, type Permit } from "./admission.ts";
import { headersOf } from "./headers.fixture.ts";
import { RejectedRequest } from "./request.ts";

const LIMIT = 1_000;

let accounts = 0;

/** Asks for a place for a body that announces this many bytes; for an account that has no other, where none is said. */
function enter(
  admission: Admission,
  announced?: number | string,
  encoding: "identity" | "gzip" = "identity",
  account = `account-${accounts++}`,
  limit = LIMIT,
): Permit | RejectedRequest {
  const headers = headersOf(announced === undefined ? {} : { "content-length": String(announced) });
  return admission.enter(account, headers, encoding, limit);
}

function placeOf(place: Permit | RejectedRequest): Permit {
  if (place instanceof RejectedRequest) throw new Error(place.rejection.code);
  return place;
}

const refusalOf = (place: Permit | RejectedRequest): unknown =>
  place instanceof RejectedRequest ? { code: place.rejection.code, retry: place.headers["Retry-After"] } : "admitted";

const TOO_MANY = { code: "too-many-requests", retry: "1" };
const OVERLOADED = { code: "overloaded", retry: "1" };

describe("requests at once", () => {
  it("are bounded, and each that leaves makes room for one", () => {
    const admission = new Admission(2, 1_000_000);
    const first = placeOf(enter(admission, 1));
    placeOf(enter(admission, 1));
    expect(refusalOf(enter(admission, 1))).toEqual(OVERLOADED);
    expect(admission.requests).toBe(2);
    first.release();
    expect(admission.requests).toBe(1);
    placeOf(enter(admission, 1));
    expect(refusalOf(enter(admission, 1))).toEqual(OVERLOADED);
  });
});

describe("bytes at once", () => {
  it("count as announced, where that can be trusted", () => {
    const admission = new Admission(100, 2_000);
    const first = placeOf(enter(admission, 900));
    placeOf(enter(admission, 900));
    expect(refusalOf(enter(admission, 201))).toEqual(OVERLOADED);
    placeOf(enter(admission, 200));
    first.release();
    placeOf(enter(admission, 900));
  });

  it.each([
    ["that announces nothing", undefined, "identity"],
    ["that announces more than the limit: reading stops there", 5_000, "identity"],
    ["that announces nonsense", "many", "identity"],
    ["that is compressed", 10, "gzip"],
  ] as const)("of a body %s count as the limit", (_, announced, encoding) => {
    const admission = new Admission(100, 2 * LIMIT + 1);
    placeOf(enter(admission, announced, encoding));
    placeOf(enter(admission, announced, encoding));
    placeOf(enter(admission, 1));
    expect(refusalOf(enter(admission, 1))).toEqual(OVERLOADED);
  });

  it("never keep out the only request", () => {
    const admission = new Admission(100, 10);
    const place = placeOf(enter(admission, 900));
    expect(refusalOf(enter(admission, 1))).toEqual(OVERLOADED);
    place.release();
    placeOf(enter(admission, 900));
  });
});

describe("one account", () => {
  const MEGABYTE = 1024 * 1024;
  const of = (admission: Admission, account: string, bytes = 1): Permit | RejectedRequest =>
    enter(admission, bytes, "identity", account, MEGABYTE);

  it("holds a quarter of the places, and leaves the others their own", () => {
    const admission = new Admission(200, 1_000 * MEGABYTE);
    const places = Array.from({ length: 50 }, () => placeOf(of(admission, "greedy")));
    expect(refusalOf(of(admission, "greedy"))).toEqual(TOO_MANY);
    for (let count = 0; count < 50; count++) placeOf(of(admission, "other"));
    places[0]?.release();
    placeOf(of(admission, "greedy"));
    expect(refusalOf(of(admission, "greedy"))).toEqual(TOO_MANY);
  });

  it("holds a quarter of the bytes", () => {
    const admission = new Admission(10_000, 64 * MEGABYTE);
    for (let count = 0; count < 16; count++) placeOf(of(admission, "greedy", MEGABYTE));
    expect(refusalOf(of(admission, "greedy"))).toEqual(TOO_MANY);
    placeOf(of(admission, "other", MEGABYTE));
  });

  it("holds 32 places and 8 MiB where that is more than a quarter, as far as there is room at all", () => {
    const many = new Admission(40, 1_000 * MEGABYTE);
    for (let count = 0; count < 32; count++) placeOf(of(many, "a"));
    expect(refusalOf(of(many, "a"))).toEqual(TOO_MANY);
    for (let count = 0; count < 8; count++) placeOf(of(many, "b"));
    expect(refusalOf(of(many, "b"))).toEqual(OVERLOADED);
    const large = new Admission(1_000, 12 * MEGABYTE);
    for (let count = 0; count < 8; count++) placeOf(of(large, "a", MEGABYTE));
    expect(refusalOf(of(large, "a", MEGABYTE))).toEqual(TOO_MANY);
    for (let count = 0; count < 4; count++) placeOf(of(large, "b", MEGABYTE));
    expect(refusalOf(of(large, "b", MEGABYTE))).toEqual(OVERLOADED);
  });

  it("that was refused has taken nothing", () => {
    const admission = new Admission(40, 1_000 * MEGABYTE);
    const places = Array.from({ length: 32 }, () => placeOf(of(admission, "a")));
    for (let count = 0; count < 100; count++) of(admission, "a");
    expect(admission.requests).toBe(32);
    for (const place of places) place.release();
    expect(admission.requests).toBe(0);
    for (let count = 0; count < 32; count++) placeOf(of(admission, "a"));
  });
});

describe("draining", () => {
  it("refuses whoever is new, and ends when the last one has left", async () => {
    const admission = new Admission(10, 1_000_000);
    const places = [placeOf(enter(admission, 1)), placeOf(enter(admission, 1))];
    let drained = false;
    const end = admission.drain().then(() => (drained = true));
    expect(admission.draining).toBe(true);
    expect(refusalOf(enter(admission, 1))).toEqual({ code: "draining", retry: "2" });
    places[0]?.release();
    await new Promise(setImmediate);
    expect(drained).toBe(false);
    places[1]?.release();
    await end;
    expect(drained).toBe(true);
  });

  it("ends at once where nobody is in", async () => {
    const admission = new Admission(10, 1_000_000);
    placeOf(enter(admission, 1)).release();
    await admission.drain();
  });

  it("may be asked for twice: both are told the end", async () => {
    const admission = new Admission(10, 1_000_000);
    const place = placeOf(enter(admission, 1));
    const both = Promise.all([admission.drain(), admission.drain()]);
    place.release();
    await both;
  }, 2_000);
});
