import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { Unavailable } from "../../base/ports.ts";
import { asUnusable, isTransient, CONNECTION_ERROR_MESSAGES } from "./errors.ts";

const refusedBy = (code: string): Error => Object.assign(new pg.DatabaseError("text", 1, "error"), { code });

/** The text of all `.js` files in the folder of a module's entry point. */
function sourcesOf(name: string, from: NodeJS.Require): string {
  const folder = dirname(from.resolve(name));
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".js"))
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n");
}

describe("an error of the driver without a code", () => {
  const requireFromHere = createRequire(import.meta.url);
  const text = sourcesOf("pg", requireFromHere) + sourcesOf("pg-pool", createRequire(requireFromHere.resolve("pg")));

  it.each([...CONNECTION_ERROR_MESSAGES])("has one of the listed messages in the installed driver: %s", (message) => {
    expect(text).toContain(`'${message}'`);
    expect(isTransient(new Error(message))).toBe(true);
  });

  it("is not transient with any other text", () => {
    for (const message of ["the connection of ideas", "Connection terminated by hand", "a timeout was set"]) {
      expect(isTransient(new Error(message)), message).toBe(false);
    }
  });
});

describe("an error of the database is transient", () => {
  it.each(["08006", "28P01", "53100", "57P03", "58030", "25006"])("after SQLSTATE %s", (code) => {
    expect(isTransient(refusedBy(code))).toBe(true);
  });

  it.each(["23505", "42P01", "25001"])("but not after SQLSTATE %s", (code) => {
    expect(isTransient(refusedBy(code))).toBe(false);
  });

  it("if a dependency is silent, but not for another error that already has a code", () => {
    expect(isTransient(new Unavailable("silent", { code: "dependency-silent" }))).toBe(true);
    expect(isTransient(new Unavailable("timeout expired"))).toBe(false);
    expect(isTransient(new OperatorError("schema-newer", "timeout expired"))).toBe(false);
  });
});

describe("the message for an operator when the database rejects a statement", () => {
  it("has the reason by SQLSTATE, and nothing that the database wrote", () => {
    const refused = asUnusable(refusedBy("42501"), "key database");
    expect(refused).toMatchObject({
      code: "dependency-unusable",
      message: "the key database can't be used: its login lacks a privilege (SQLSTATE 42501)",
      detail: { problem: "can't be used: its login lacks a privilege (SQLSTATE 42501)" },
    });
    expect(asUnusable(refusedBy("57P01"), "key database")).toMatchObject({ code: "dependency-unavailable" });
  });
});
