import {
  type Instant,
  pointerOf,
  type TransportRequest,
  validateTransportRequest,
} from "@device-risk-signals/contract";
import { checkAgainstCatalog } from "@device-risk-signals/contract/catalog/check";
import { Refusal } from "./request.ts";

export interface ValidRequest {
  readonly request: TransportRequest;
  readonly collectedAt: Instant;
}

/**
 * The wire rules, and for the fields that enabled features read the published schema.
 * @param adoptedFields `probe.field`, also `probe.field.member`.
 */
export function validate(body: unknown, adoptedFields: ReadonlySet<string>): ValidRequest | Refusal {
  const result = validateTransportRequest(body);
  if (!result.ok) return new Refusal({ code: "request-invalid", errors: result.errors });
  if (adoptedFields.size > 0) {
    const errors = checkAgainstCatalog(result.request.observations.probes)
      .filter(({ probe, field }) => field !== undefined && adoptedFields.has(`${probe}.${field}`))
      .map(({ probe, field = "" }) => ({
        pointer: pointerOf(["observations", "probes", probe, "data", ...field.split(".")]),
        code: "catalog-departure" as const,
        detail: "departs from the published schema, and a feature reads it",
      }));
    if (errors.length > 0) return new Refusal({ code: "adopted-field-invalid", errors });
  }
  return result;
}
