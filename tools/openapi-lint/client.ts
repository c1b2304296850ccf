/** A program against the client that `openapi-typescript` generates: it compiles only if the types have these names. */
import type { components, operations } from "./build/admin-api.d.ts";

type Schemas = components["schemas"];
type AnswerOf<Id extends keyof operations> = operations[Id] extends {
  responses: { 200: { content: { "application/json": infer Answer } } };
}
  ? Answer
  : never;

/** Compiles only if both types are the same. */
type Same<One, Other> = [One, Other] extends [Other, One] ? true : never;

export const isNamed: readonly true[] = [
  true satisfies Same<AnswerOf<"listHolds">, Schemas["ListHoldsAnswer"]>,
  true satisfies Same<AnswerOf<"listErasures">["erasures"][number], Schemas["Erasure"]>,
  true satisfies Same<AnswerOf<"listEvents">["events"][number], Schemas["Event"]>,
];

export function overdueReviews({ holds }: Schemas["ListHoldsAnswer"]): readonly Schemas["Hold"][] {
  return holds.filter((hold) => hold.review_overdue && hold.lifted_at === null);
}

export const body: Schemas["AddHoldBody"] = {
  account: "acc_1",
  reason: "dispute 4711, see the ticket",
  approver: "legal",
  review_on: "2027-01-31",
};

export const detailOf = (problem: Schemas["Problem"]): string => problem.code ?? problem.title;
