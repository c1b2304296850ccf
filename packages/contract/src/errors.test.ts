import { describe, expect, it } from "vitest";
import { type ErrorItem, ErrorList, problemOf, type ProblemCode, PROBLEMS, reject } from "./errors.ts";

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

function entries(count: number): readonly ErrorItem[] {
  const list = new ErrorList();
  for (let index = 0; index < count; index++) {
    list.add({ pointer: `/${index}`, code: "member-unknown", detail: `violation ${index}` });
  }
  return list.entries;
}

describe("a problem document", () => {
  it.each(CODES)("of %s has its type, title and status, and says why", (code) => {
    expect(problemOf(reject(code))).toEqual({
      type: `urn:problem:device-risk-signals:${code}`,
      title: PROBLEMS[code].title,
      status: PROBLEMS[code].status,
      detail: PROBLEMS[code].when,
      errors: [{ pointer: "", code, detail: PROBLEMS[code].when }],
    });
    expect(PROBLEMS[code].status).toBeGreaterThanOrEqual(400);
  });

  it("has the given detail and pointer", () => {
    const problem = problemOf(reject("collected-at-stale", "too old", "/observations/collected_at"));
    expect(problem.detail).toBe("too old");
    expect(problem.errors).toEqual([
      { pointer: "/observations/collected_at", code: "collected-at-stale", detail: "too old" },
    ]);
  });

  it("has one string as its detail, for any number of entries", () => {
    const detail = (count: number): string => problemOf({ code: "request-invalid", errors: entries(count) }).detail;
    expect(detail(0)).toBe(PROBLEMS["request-invalid"].when);
    expect(detail(1)).toBe("violation 0");
    expect(detail(2)).toBe("violation 0 (and 1 more, see errors)");
    expect(detail(3)).toBe("violation 0 (and 2 more, see errors)");
    expect(detail(101)).toBe("violation 0 (and more, see errors)");
  });

  it("lists 100 entries, then one that says that there are more", () => {
    const listed = (count: number): readonly ErrorItem[] =>
      problemOf({ code: "request-invalid", errors: entries(count) }).errors;
    expect(listed(100)).toHaveLength(100);
    const cut = listed(60_000);
    expect(cut).toHaveLength(101);
    expect(cut.at(-1)).toEqual({ pointer: "", code: "more-errors", detail: "There are more; only these are listed." });
  });
});
