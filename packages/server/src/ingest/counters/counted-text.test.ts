import fc from "fast-check";
import { expect, test } from "vitest";
import { countedMajor, countedVersion } from "./counted-text.ts";

test.each(["1.2.3", "0.1", "2026.11.20", "1.4.0-beta.2", "1.4.0-rc", "0.0.0-snapshot.20261122"])(
  "version %s is counted as it is",
  (version) => expect(countedVersion(version)).toBe(version),
);

test.each([
  "",
  "1",
  "v1.2.3",
  "1.2.3-anna",
  "1.2.3+anna",
  "1.2.3.4",
  "anna@example.com",
  "1.2.3\n",
  "drs 1.2.3",
  "other",
])("version %j is counted under other", (version) => expect(countedVersion(version)).toBe("other"));

test("a version contains no word except a usual name of a pre-release", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[\d.a-z+-]{0,32}$/), (said) => {
      expect(countedVersion(said)).toMatch(/^(other|[\d.]+(-(alpha|beta|canary|dev|next|rc|snapshot)[\d.]*)?)$/);
    }),
  );
});

test.each([
  ["14", "14"],
  ["8.1.0", "8"],
  ["17.4.1", "17"],
  [undefined, ""],
  ["", "other"],
  ["S", "other"],
  ["114", "other"],
  ["14 of Anna", "other"],
  [14, "other"],
  [null, "other"],
  [{}, "other"],
])("the OS version %j counts as %j", (said, major) => expect(countedMajor(said)).toBe(major));
