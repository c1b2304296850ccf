import { describe, expect, it } from "vitest";
import { anyFound, asOne, countFound, facts, inText, named, present, together, namesFound } from "./finding.ts";

const su = present("paths", ["/a/su", "/b/su"]);
const none = { present: [], absent: ["/a/su", "/b/su"] };

describe("the finding of an artefact", () => {
  it.each([
    ["no source was read", {}, undefined],
    ["all were examined, and none exists", { paths: none }, false],
    ["one could not be examined", { paths: { present: [], absent: ["/a/su"] } }, undefined],
    ["one could not be examined, and the other exists", { paths: { present: ["/b/su"], absent: [] } }, true],
    ["something else is there", { paths: { present: ["/c/su"], absent: ["/a/su"] } }, undefined],
  ])("follows the evidence: %s", (_, evidence, value) => {
    expect(anyFound(su).judge(evidence)).toBe(value);
  });

  it("has a list of names and its length only if every artefact was examined", () => {
    const seen = { paths: { present: ["/b/su"], absent: ["/a/su"] } };
    expect(namesFound(su).judge(seen)).toEqual(["/b/su"]);
    expect(countFound(su).judge(seen)).toBe(1);
    const partly = { paths: { present: ["/b/su"], absent: [] } };
    expect(namesFound(su).judge(partly)).toBeUndefined();
    expect(countFound(su).judge(partly)).toBeUndefined();
  });

  it("is true if one of several artefacts is found, and is not false while one of them is unknown", () => {
    const either = anyFound(together(su, present("classes", ["X"])));
    expect(either.judge({ paths: none })).toBeUndefined();
    expect(either.judge({ paths: none, classes: { present: [], absent: ["X"] } })).toBe(false);
    expect(either.judge({ classes: { present: ["X"], absent: [] } })).toBe(true);
  });

  it("is not false for a text that was cut off", () => {
    const hit = anyFound(inText("maps", ({ text }) => (text.includes("hit") ? ["hit"] : [])));
    expect(hit.judge({ maps: { text: "a miss", truncated: false } })).toBe(false);
    expect(hit.judge({ maps: { text: "a miss", truncated: true } })).toBeUndefined();
    expect(hit.judge({ maps: { text: "a hit", truncated: true } })).toBe(true);
  });

  it("is not false for a list of names that has as many entries as native code reads", () => {
    const known = anyFound(named("stack", (name) => (name === "hook" ? name : undefined)));
    expect(known.judge({ stack: Array.from({ length: 255 }, () => "a") })).toBe(false);
    expect(known.judge({ stack: Array.from({ length: 256 }, () => "a") })).toBeUndefined();
  });

  it("is unknown if the property is left out, and false if the property is not set", () => {
    const debuggable = anyFound(facts("properties", ["ro.debuggable"], /=1$/));
    expect(debuggable.judge({ properties: {} })).toBeUndefined();
    expect(debuggable.judge({ properties: { "ro.debuggable": "" } })).toBe(false);
    expect(debuggable.judge({ properties: { "ro.debuggable": "1" } })).toBe(true);
  });
});

it("reported names are bounded, however long and many the names in evidence are", () => {
  const all = namesFound(named("threads", (name) => name));
  const threads = Array.from({ length: 1_000 }, (_, index) => `${index}${"x".repeat(5_000)}`);
  const names = all.judge({ threads }) as readonly string[];
  expect(names).toHaveLength(64);
  expect(Math.max(...names.map((name) => name.length))).toBe(128);
});

it("counts all names as one if one cause sets several of them", () => {
  expect(countFound(asOne(named("threads", (name) => name))).judge({ threads: ["a", "b"] })).toBe(1);
});

it("a property that could not be read has no value that a pattern could match", () => {
  const anyValue = anyFound(facts("properties", ["nemud.player_engine"], /=./));
  expect(anyValue.judge({ properties: {} })).toBeUndefined();
});

it("each name is reported once", () => {
  expect(namesFound(named("threads", (name) => name)).judge({ threads: ["a", "b", "a"] })).toEqual(["a", "b"]);
});
