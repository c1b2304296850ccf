import { ROUTES } from "@device-risk-signals/admin-api";
import { expect, it } from "vitest";
import { wordsOfOperation } from "./operation-words.ts";

it("has words for the operation of each route, so that an auditor reads what a person did", () => {
  const operations = Object.values(ROUTES).map(({ operation }) => operation);
  expect(operations.filter((operation) => wordsOfOperation(operation) === undefined)).toEqual([]);
});
