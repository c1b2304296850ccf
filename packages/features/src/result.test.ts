import { describe, expect, it } from "vitest";
import { inputStateOf, sharedState } from "./result.ts";
import type { Reading } from "./reading.ts";

const TIMEOUT: Reading<never> = { state: "timeout" };
const ABSENT: Reading<never> = { state: "omitted", why: "probe-absent" };
const NO_FIELD: Reading<never> = { state: "omitted", why: "field-absent" };
const SEEN: Reading<boolean> = { state: "observed", value: false };

describe("sharedState", () => {
  it("is the state that all inputs without a value share", () => {
    expect(sharedState([SEEN, ABSENT, NO_FIELD])).toBe("omitted");
    expect(sharedState([SEEN, ABSENT, TIMEOUT])).toBe("mixed");
    expect(sharedState([SEEN, SEEN])).toBeUndefined();
  });
});

describe("inputStateOf", () => {
  it("adds the kind to a state that has several kinds", () => {
    expect([ABSENT, NO_FIELD, TIMEOUT, SEEN].map(inputStateOf)).toEqual([
      "omitted:probe-absent",
      "omitted:field-absent",
      "timeout",
      "observed",
    ]);
    expect(inputStateOf({ state: "departed", type: "null" })).toBe("departed:null");
  });

  it("leaves out a reason that is no word of the contract", () => {
    expect(inputStateOf({ state: "skipped", reason: "consent" })).toBe("skipped:consent");
    expect(inputStateOf({ state: "skipped", reason: "<script>" })).toBe("skipped");
  });
});
