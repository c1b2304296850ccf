import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROUTES, type Route } from "@device-risk-signals/admin-api";
import { describe, expect, it } from "vitest";
import { wordsOfDryRun, wordsOfEntry, wordsOfOperation } from "./operation-words.ts";

const SERVER = join(import.meta.dirname, "../../../server/src");
/** How the server's source names the operation of an entry. */
const NAMED = /(?:\boperation: |_OPERATION = )"(?<operation>[a-z-]+\.[a-z_-]+)"/g;

/** The operations of entries that no route names, such as those of the server itself. */
const operationsOfServer = (): readonly string[] =>
  globSync("**/*.ts", { cwd: SERVER, exclude: ["**/*.test.ts", "**/*.contract.ts"] })
    .flatMap((file) => [...readFileSync(join(SERVER, file), "utf8").matchAll(NAMED)])
    .map(({ groups }) => groups?.["operation"] ?? "");

/** Only an approval names it. */
const NO_ENTRY = new Set(["event.open"]);

describe("the words of operations", () => {
  it("are there for each route and each entry of the server, so that an auditor reads what was done", () => {
    const operations = [...Object.values(ROUTES).map(({ operation }) => operation), ...operationsOfServer()];
    expect(operations).toContain("approval.exempt");
    const unnamed = operations.filter((one) => wordsOfOperation(one) === undefined && !NO_ENTRY.has(one));
    expect(unnamed).toEqual([]);
  });

  it("are others for the dry run of each route that has one, so that no person is said to have done it", () => {
    const withDryRun = Object.values<Route>(ROUTES).filter(({ body }) => "dry_run" in (body?.properties ?? {}));
    expect(withDryRun.length).toBeGreaterThan(0);
    const unnamed = withDryRun.map(({ operation }) => operation).filter((one) => wordsOfDryRun(one) === undefined);
    expect(unnamed).toEqual([]);
    const operation = "hold.lift";
    expect(wordsOfEntry({ operation, detail: null })).toBe("ended a hold");
    expect(wordsOfEntry({ operation, detail: { dry_run: true } })).toBe("looked at what ending a hold would release");
  });
});
