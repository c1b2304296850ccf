import { describe, expect, it } from "vitest";
import { type LockedFeature, lockProblems, lockText, withEquivalents, withNewVersions } from "./lock.ts";

const entry = (version: number, hash: string, id = "traces"): LockedFeature => ({ id, version, hash });

describe("a lock file", () => {
  it("accepts the definitions that it has entries for, and entries without a definition", () => {
    expect(lockProblems([entry(1, "a"), entry(2, "b"), entry(1, "c", "retired")], [entry(2, "b")])).toEqual([]);
  });

  it("rejects another hash of a version, and names the next version", () => {
    expect(lockProblems([entry(1, "a"), entry(2, "b")], [entry(2, "c")])).toEqual([
      "the code of traces@2 differs from features.lock.json: give the feature version 3",
    ]);
  });

  it("rejects a version without an entry, and a version with two entries", () => {
    expect(lockProblems([], [entry(1, "a")])[0]).toContain("traces@1 is not in features.lock.json");
    expect(lockProblems([entry(1, "a"), entry(1, "b")], [])).toEqual(["features.lock.json has traces@1 twice"]);
  });

  it("is rejected if an entry of an earlier lock file was removed or changed", () => {
    const base = [entry(1, "a"), entry(2, "b")];
    expect(lockProblems([entry(2, "c")], [entry(2, "c")], base)).toEqual([
      "features.lock.json has no entry traces@1 any more: restore the entry",
      "features.lock.json had another hash of traces@2: give the feature a new version",
    ]);
  });

  it("gets the hash of an equivalent program, and keeps the earlier hash", () => {
    const base = [entry(1, "a"), entry(2, "b")];
    const locked = withEquivalents(base, [entry(2, "c"), entry(1, "a")]);
    const { features } = JSON.parse(lockText(locked)) as { features: LockedFeature[] };
    expect(features).toEqual([entry(1, "a"), { ...entry(2, "c"), equivalent: ["b"] }]);
    expect(lockProblems(features, [entry(2, "c")], base)).toEqual([]);
    expect(lockProblems(features, [entry(2, "b")], base), "the version has the new program").toHaveLength(1);
  });

  it("is sorted by id and version, and keeps the hash of each locked version", () => {
    const text = lockText(
      withNewVersions([entry(10, "x"), entry(2, "b"), entry(1, "a", "z")], [entry(11, "c"), entry(2, "changed")]),
    );
    expect((JSON.parse(text) as { features: unknown }).features).toEqual([
      entry(2, "b"),
      entry(10, "x"),
      entry(11, "c"),
      entry(1, "a", "z"),
    ]);
  });
});
