/** Options that say why a person opens events: an open case, or the reason, category and ticket of a new case. */
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
