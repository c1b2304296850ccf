import { describe, expect, it } from "vitest";
import { anyOf, anyPresent, mergeSources, whichPresent } from "./judgement.ts";

const su = anyPresent("paths", ["/a/su", "/b/su"]);

describe("unknown is not false", () => {
  it.each([
    ["nothing was read", {}, undefined],
    ["all were looked at, none is there", { paths: { present: [], absent: ["/a/su", "/b/su"] } }, false],
    ["one could not be looked at", { paths: { present: [], absent: ["/a/su"] } }, undefined],
    ["one could not be looked at, the other is there", { paths: { present: ["/b/su"], absent: [] } }, true],
    ["something else is there", { paths: { present: ["/c/su"], absent: ["/a/su"] } }, undefined],
  ])("%s", (_, evidence, value) => {
    expect(su.judge(evidence)).toBe(value);
  });

  it("a list is told whole or not at all", () => {
    const which = whichPresent("paths", ["/a/su", "/b/su"]);
    expect(which.judge({ paths: { present: ["/b/su"], absent: ["/a/su"] } })).toEqual(["/b/su"]);
    expect(which.judge({ paths: { present: ["/b/su"], absent: [] } })).toBeUndefined();
  });

  it("of several, one hit is enough, and one unknown keeps the rest from saying no", () => {
    const either = anyOf(su, anyPresent("classes", ["X"]));
    const none = { present: [], absent: ["/a/su", "/b/su"] };
    expect(either.judge({ paths: none })).toBeUndefined();
    expect(either.judge({ paths: none, classes: { present: [], absent: ["X"] } })).toBe(false);
    expect(either.judge({ classes: { present: ["X"], absent: [] } })).toBe(true);
  });
});

it("what several ask for is asked once", () => {
  const merged = mergeSources([{ paths: ["/a", "/b"], maps: true }, { paths: ["/b", "/c"] }]);
  expect(merged).toEqual({ paths: ["/a", "/b", "/c"], maps: true });
});
