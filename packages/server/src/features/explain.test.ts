import { expect, it } from "vitest";
import { type Decision, lineageOf } from "./explain.ts";

const at = (day: number): string => `2027-01-0${day}T00:00:00.000Z`;
const decision = (number: number, kind: string, purpose: string | null = "payments"): Decision => ({
  decision: number,
  kind,
  features: ["found@1"],
  purpose,
  decided_at: at(number),
  decided_by: "A. Analyst",
  reason: "a review",
  evidence: {},
});
const numbers = (day: number, ...newestFirst: readonly Decision[]): unknown => {
  const { proposed, adopted, retired } = lineageOf(newestFirst, { active_from: at(day) }, "payments");
  return [proposed, adopted, retired].map((one) => one?.decision);
};

it("follows a layer to its adoption for the purpose, and to the decision that ended it", () => {
  const proposed = decision(1, "proposed", null);
  expect(numbers(3, decision(3, "adopted"), decision(2, "adopted", "other"), proposed)).toEqual([1, 3, undefined]);
  expect(numbers(3, decision(5, "retired"), decision(4, "retired", "other"), decision(3, "adopted"), proposed)).toEqual(
    [1, 3, 5],
  );
});

it("follows a layer that continued features of an earlier layer to the earlier adoption, not to a later one", () => {
  const decisions = [decision(8, "retired"), decision(7, "adopted"), decision(6, "retired"), decision(2, "adopted")];
  expect(numbers(4, ...decisions)).toEqual([undefined, 2, 6]);
  expect(numbers(7, ...decisions)).toEqual([undefined, 7, 8]);
});
