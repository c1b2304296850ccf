import { expect, test } from "vitest";
import { displayName } from "./display-name.ts";

test.each([
  ["a text", "Jane Doe", "Jane Doe"],
  ["blanks around a text", " \tJane Doe\n", "Jane Doe"],
  ["blanks only", " \u00a0\n", null],
  [
    "control characters and direction marks, which are escaped where they are shown",
    "\u001b[2J\u202eJane",
    "\u001b[2J\u202eJane",
  ],
  ["a NUL and half of a pair, which PostgreSQL refuses", "a\0b\ud800c", "a\ufffdb\ufffdc"],
  ["no text", 7, null],
  ["a list", ["Jane"], null],
  ["nothing", undefined, null],
  ["10 KB", "x".repeat(10_240), `${"x".repeat(127)}…`],
  ["10 KB of pairs, which are not divided", "\u{1f600}".repeat(2_560), `${"\u{1f600}".repeat(127)}…`],
])("the name of a claim with %s is stored in bounds", (_, value, name) => {
  expect(displayName({ name: value }, "name")).toBe(name);
});

test("a name is at a path, only if one is configured, and never from a prototype", () => {
  expect(displayName({ profile: { name: "Jane" } }, "profile.name")).toBe("Jane");
  expect(displayName({ name: "Jane" }, undefined)).toBeNull();
  for (const claim of ["constructor", "constructor.name", "__proto__", "toString"]) {
    expect(displayName({}, claim), claim).toBeNull();
  }
});
