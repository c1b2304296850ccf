import { describe, expect, it } from "vitest";
import { Admission, type Place } from "./admission.ts";
import { headersOf } from "./headers.fixture.ts";
import { Refusal } from "./request.ts";

const LIMIT = 1_000;

/** Asks for a place for a body that announces this many bytes. */
function enter(admission: Admission, announced?: number | string, encoding: "identity" | "gzip" = "identity"): Place | Refusal {
  const headers = headersOf(announced === undefined ? {} : { "content-length": String(announced) });
  return admission.enter(headers, encoding, LIMIT);
}

function placeOf(place: Place | Refusal): Place {
  if (place instanceof Refusal) throw new Error(place.rejection.code);
  return place;
}

const refusalOf = (place: Place | Refusal): unknown =>
  place instanceof Refusal ? { code: place.rejection.code, retry: place.headers["Retry-After"] } : "admitted";

const OVERLOADED = { code: "overloaded", retry: "1" };

describe("requests at once", () => {
  it("are bounded, and each that leaves makes room for one", () => {
    const admission = new Admission(2, 1_000_000);
    const first = placeOf(enter(admission, 1));
    placeOf(enter(admission, 1));
    expect(refusalOf(enter(admission, 1))).toEqual(OVERLOADED);
    expect(admission.requests).toBe(2);
    first.leave();
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
    first.leave();
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
    place.leave();
    placeOf(enter(admission, 900));
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
    places[0]?.leave();
    await new Promise(setImmediate);
    expect(drained).toBe(false);
    places[1]?.leave();
    await end;
    expect(drained).toBe(true);
  });

  it("ends at once where nobody is in", async () => {
    const admission = new Admission(10, 1_000_000);
    placeOf(enter(admission, 1)).leave();
    await admission.drain();
  });

  it("may be asked for twice: both are told the end", async () => {
    const admission = new Admission(10, 1_000_000);
    const place = placeOf(enter(admission, 1));
    const both = Promise.all([admission.drain(), admission.drain()]);
    place.leave();
    await both;
  }, 2_000);
});
