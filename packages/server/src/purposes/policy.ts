import type { ExportAttribute } from "@device-risk-signals/admin-api";

export const SENSITIVITIES = ["low", "medium", "high"] as const;
export type Sensitivity = (typeof SENSITIVITIES)[number];

/** A purpose: the reason why events are kept. */
export interface PurposeDefinition {
  readonly id: string;
  readonly title: string;
  readonly legal_basis: string;
  /** ISO 8601 durations, counted from the receipt of the event. */
  readonly raw_retention: string;
  readonly derived_retention: string;
  readonly owner: string;
  /** The probes that the purpose covers; all if absent. */
  readonly probes?: readonly string[];
  readonly highest_sensitivity?: Sensitivity;
  /** What the server does with an event that has data which the purpose does not cover. */
  readonly beyond: "record" | "refuse";
  /** The attributes of events that exports of features may have in addition; none if absent. */
  readonly export_attributes?: readonly ExportAttribute[];
  /** Whether the purpose is retired: it takes no new events, and stored events expire by its period. */
  readonly retired: boolean;
}

export interface Policy {
  readonly purposes: readonly PurposeDefinition[];
  /** Action type to purpose id. */
  readonly actions: Readonly<Record<string, string>>;
  /** `refuse`, or the purpose of action types that are not mapped. */
  readonly unmapped: string;
}

export const REFUSE = "refuse";
