import { describe, expect, it } from "vitest";
import { parseAdoptedFields } from "./adopted-fields.ts";

function problemOf(text: string): string {
  const read = parseAdoptedFields(text);
  return read.ok ? "" : read.problem;
}

describe("a list of adopted fields", () => {
  it("is an array of paths, each an array of names", () => {
    const paths = [
      ["os_integrity", "isEmulator"],
      ["device_identity", "androidBuild", "sdkInt"],
    ];
    const read = parseAdoptedFields(JSON.stringify(paths));
    expect(read.ok && read.adopted.paths).toEqual(paths);
    expect(problemOf("[]")).toBe("");
  });

  it.each(["", "{", "[["])("can't be the text %j", (text) => {
    expect(problemOf(text)).toBe("is not JSON");
  });

  it.each([`{"adopted":[]}`, `"os_integrity.isEmulator"`, "null"])("can't be the JSON %s", (text) => {
    expect(problemOf(text)).toMatch(/must hold an array of paths/);
  });

  it("is rejected with its first entry that is no path", () => {
    expect(problemOf(`[["fonts","fontsDigest"],"os_integrity.isEmulator"]`)).toMatch(/entry 2 is none/);
    expect(problemOf(`[["fonts",1]]`)).toMatch(/entry 1 is none/);
  });

  it("is rejected with up to ten paths that are no field of the catalog", () => {
    const text = `[["fonts","fontsDigest"],["os_integrity","isEmulated"],["device_identity","androidBuild.sdkInt"]]`;
    expect(problemOf(text)).toBe(
      'names what the catalog does not list as a field: ["os_integrity","isEmulated"], ["device_identity","androidBuild.sdkInt"]',
    );
    const many = JSON.stringify(Array.from({ length: 12 }, (_, index) => ["fonts", `f${index}`]));
    expect(problemOf(many)).toMatch(/"f9"\] and 2 more$/);
  });

  it("is never quoted in an error if it does not look like a name, because it may be a secret from another file", () => {
    expect(problemOf(`[["-----BEGIN PRIVATE KEY-----"],["fonts","${"k".repeat(65)}"]]`)).toBe(
      "names what the catalog does not list as a field: entry 1, entry 2",
    );
    expect(problemOf("secret text")).not.toContain("secret");
  });
});
