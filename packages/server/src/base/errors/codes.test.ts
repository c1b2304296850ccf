import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OPERATOR_ERRORS, type OperatorErrorCode } from "./codes.ts";
import { hasCode, hasCodeOfArea, OperatorError } from "./operator-error.ts";

const SOURCE = join(import.meta.dirname, "../..");
const IS_TEST = /\.(test|fixture|contract)\.ts$/;

describe("the codes of errors for operators", () => {
  const text = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !IS_TEST.test(file) && file !== join("errors", "codes.ts"))
    .map((file) => readFileSync(join(SOURCE, file), "utf8"))
    .join("\n");
  const codes = Object.keys(OPERATOR_ERRORS) as OperatorErrorCode[];

  it("are used by the source", () => {
    expect(codes.filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });

  it("are kebab-case, and have a sentence for operators", () => {
    for (const code of codes) {
      expect(code).toMatch(/^[a-z]+(-[a-z]+)+$/);
      expect(OPERATOR_ERRORS[code].when, code).toMatch(/^[A-Z`].*\.$/);
    }
  });
});

describe("an OperatorError", () => {
  it("has the exit code of its code, and keeps its cause and its detail", () => {
    const cause = new Error("why");
    const error = new OperatorError("journal-damaged", "entry 3 is missing", { detail: { sequence: 3 }, cause });
    expect(error).toMatchObject({ exitCode: 1, retryable: false, detail: { sequence: 3 }, cause });
    expect(new OperatorError("wrong-usage", "x").exitCode).toBe(2);
    expect(new OperatorError("partly-done", "x").exitCode).toBe(3);
    expect(new OperatorError("pass-running", "x").retryable).toBe(true);
  });

  it("is recognised by its code or its area", () => {
    const error: unknown = new OperatorError("journal-missing", "x");
    expect(hasCode(error, "journal-damaged", "journal-missing")).toBe(true);
    expect(hasCode(error, "journal-damaged")).toBe(false);
    expect(hasCodeOfArea(error, "journal")).toBe(true);
    expect(hasCodeOfArea(error, "embedded-postgres")).toBe(false);
    expect(hasCode(Object.assign(new Error("x"), { code: "journal-missing" }), "journal-missing")).toBe(false);
  });
});
