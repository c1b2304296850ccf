import { describe, expect, it } from "vitest";
import type { Reading } from "../reading.ts";
import { anyTrue, countTrue, whenObserved } from "./answers.ts";

const observed = <T>(value: T): Reading<T> => ({ state: "observed", value });
const absent: Reading<never> = { state: "omitted", why: "field-absent" };

describe("an answer from readings", () => {
  it("countTrue counts the inputs that were observed true, and returns null if no input was observed", () => {
    expect(countTrue({ a: observed(true), b: observed(false), c: absent })).toBe(1);
    expect(countTrue({ a: observed(false), b: absent })).toBe(0);
    expect(countTrue({ a: absent })).toBeNull();
  });

  it("anyTrue is false only if every input was observed and none was true", () => {
    expect(anyTrue({ a: observed(true), b: absent })).toBe(true);
    expect(anyTrue({ a: observed(false), b: absent })).toBeNull();
    expect(anyTrue({ a: observed(false), b: observed(false) })).toBe(false);
  });

  it("whenObserved computes from values, and returns null if one is missing", () => {
    const first: Reading<number> = observed(2);
    const second: Reading<string> = observed("x");
    expect(whenObserved([first, second], (times, text) => text.repeat(times))).toBe("xx");
    expect(whenObserved([first, absent], () => 1)).toBeNull();
  });
});
