/** Options that say why events are opened: with a case, or with what a new one is opened with. */
import type { CATEGORIES, Input } from "@device-risk-signals/admin-api";

export interface WhyOptions {
  readonly case?: string;
  readonly reason?: string;
  readonly category?: (typeof CATEGORIES)[number];
  readonly ticket?: string;
}

export function whyOf(options: WhyOptions): Omit<Input<"readExactEvent">, "event_id"> {
  const { case: case_id, reason, category = "debugging", ticket } = options;
  if (case_id !== undefined) return { case_id };
  return { category, ...(reason !== undefined && { reason }), ...(ticket !== undefined && { ticket }) };
}
