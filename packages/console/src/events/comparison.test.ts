import { describe, expect, it } from "vitest";
import { firstKind, kindOf, type Row } from "./comparison.ts";

const row = (left: Row["left"], right: Row["right"], verdict: Row["verdict"] = "not-comparable"): Row => ({
  path: "/probes/fonts",
  verdict,
  left,
  right,
});
const observed = { state: "observed", value: false } as const;
const disabled = { state: "skipped", reason: "disabled" } as const;

describe("a row of a comparison", () => {
  it("keeps the verdict of two values", () => {
    expect(kindOf(row(observed, { state: "observed", value: true }, "different"))).toBe("different");
    expect(kindOf(row(observed, observed, "equal"))).toBe("equal");
  });

  it.each([
    [{ state: "omitted" }, observed],
    [{ state: "success" }, { state: "timeout" }],
    [disabled, { state: "success" }],
  ] as const)("tells that one event alone reported it: %j and %j", (left, right) => {
    expect(kindOf(row(left, right))).toBe("one-sided");
    expect(kindOf(row(right, left))).toBe("one-sided");
  });

  it("keeps states and reasons apart where neither reported it", () => {
    expect(kindOf(row(disabled, disabled))).toBe("alike");
    expect(kindOf(row({ state: "timeout" }, { state: "timeout" }))).toBe("alike");
    expect(kindOf(row(disabled, { state: "omitted" }))).toBe("unlike");
    expect(kindOf(row(disabled, { state: "skipped", reason: "consent_denied" }))).toBe("unlike");
    expect(kindOf(row({ state: "error", error: "a" }, { state: "error", error: "b" }))).toBe("unlike");
  });
});

it("a comparison shows a kind that tells of a difference first", () => {
  expect(
    firstKind(
      new Map([
        ["equal", []],
        ["alike", []],
        ["one-sided", []],
      ]),
    ),
  ).toBe("one-sided");
  expect(firstKind(new Map([["equal", []]]))).toBe("different");
});
