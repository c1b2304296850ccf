import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROBLEMS, VIOLATIONS } from "@device-risk-signals/contract";
import { expect, test } from "vitest";
import { REJECTIONS } from "./cases.ts";

/** The test file of each code that needs more than one request, or another state or other settings of the server. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "account-erased": "e2e/erasure/account.test.ts",
  "adopted-field-invalid": "e2e/adopted-fields.test.ts",
  "catalog-departure": "e2e/adopted-fields.test.ts",
  draining: "e2e/operations/shutdown.test.ts",
  "idempotency-conflict": "e2e/exactly-once.test.ts",
  "more-errors": "e2e/hostile-connections.test.ts",
  overloaded: "e2e/operations/overload.test.ts",
  "purpose-exceeded": "e2e/purposes.test.ts",
  "purpose-missing": "e2e/purposes.test.ts",
  "storage-failed": "packages/server/src/ingest/ingest.test.ts",
  "too-many-failures": "e2e/operations/throttling.test.ts",
  "too-many-requests": "e2e/operations/throttling.test.ts",
  unavailable: "e2e/operations/database-outage.test.ts",
};

test("every code for clients has a case here or a test in another file", () => {
  const covered = new Set<string>(
    REJECTIONS.flatMap(({ expected: { problem, error } }) => (error === undefined ? [problem] : [problem, error])),
  );
  const others = [...Object.keys(PROBLEMS), ...Object.keys(VIOLATIONS)].filter((code) => !covered.has(code));
  expect(others.toSorted()).toEqual(Object.keys(ELSEWHERE).toSorted());
});

test.each(Object.entries(ELSEWHERE))("%s occurs in %s", (code, file) => {
  expect(readFileSync(join(import.meta.dirname, "../..", file), "utf8")).toContain(code);
});
