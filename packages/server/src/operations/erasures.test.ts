import { expect, it } from "vitest";
import type { ErasurePlan } from "../lifecycle/erasure/plan-erasure.ts";
import { planToApprove } from "./erasures.ts";

const COUNTS = { events: 2_000, held: 0, still_held: 0, released: 0, idempotency_keys: 2_000 };
const planWith = (exports: number): ErasurePlan => ({
  ...COUNTS,
  tokens: 0,
  actions: 0,
  keys: 1,
  features: 0,
  derived_only: 0,
  exports: Array.from({ length: exports }, (_, index) => ({ export_id: `export-${index}`, recipient: "r", rows: 1 })),
});

it("an approver sees 50 of the exports that an erasure recalls, and how many more there are", () => {
  expect(planToApprove(planWith(50))).toEqual(planWith(50));
  expect(planToApprove(planWith(5_000))).toEqual({ ...planWith(50), further_exports: 4_950 });
});
