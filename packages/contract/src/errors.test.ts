import { describe, expect, it } from "vitest";
import { type ErrorItem, problemOf, type ProblemCode, PROBLEMS, reject } from "./errors.ts";

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

function entries(count: number): ErrorItem[] {
  return Array.from({ length: count }, (_, index) => {
    return { pointer: `/${index}`, code: "member-unknown", detail: `fault ${index}` } as const;
  });
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

  it("has the given detail and place", () => {
    const problem = problemOf(reject("collected-at-stale", "too old", "/observations/collected_at"));
    expect(problem.detail).toBe("too old");
    expect(problem.errors).toEqual([
      { pointer: "/observations/collected_at", code: "collected-at-stale", detail: "too old" },
    ]);
  });

  it("has one string as its detail, however many entries there are", () => {
    const detail = (count: number): string => problemOf({ code: "request-invalid", errors: entries(count) }).detail;
    expect(detail(0)).toBe(PROBLEMS["request-invalid"].when);
    expect(detail(1)).toBe("fault 0");
    expect(detail(2)).toBe("fault 0 (and 1 more, see errors)");
    expect(detail(3)).toBe("fault 0 (and 2 more, see errors)");
    expect(detail(5_000)).toBe("fault 0 (and 4999 more, see errors)");
  });

  it("lists 1,000 entries and says how many it leaves out", () => {
    const listed = (count: number): readonly ErrorItem[] =>
      problemOf({ code: "request-invalid", errors: entries(count) }).errors;
    expect(listed(1_000)).toEqual(entries(1_000));
    expect(listed(1_001)).toHaveLength(1_001);
    const cut = listed(60_000);
    expect(cut.slice(0, -1)).toEqual(entries(1_000));
    expect(cut.at(-1)).toEqual({ pointer: "", code: "more-errors", detail: "59000 more were found." });
  });
});
