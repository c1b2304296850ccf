import {
  ErrorList,
  type Instant,
  pointerOf,
  type TransportRequest,
  validateTransportRequest,
} from "@device-risk-signals/contract";
import { type AdoptedFields, checkAdopted } from "@device-risk-signals/contract/catalog/adopted";
import { RejectedRequest } from "./request.ts";

export interface ValidRequest {
  readonly request: TransportRequest;
  readonly collectedAt: Instant;
}

/** Checks the wire rules, and for the fields that features read the published schema. */
export function validate(body: unknown, adopted: AdoptedFields): ValidRequest | RejectedRequest {
  const result = validateTransportRequest(body);
  if (!result.ok) return new RejectedRequest({ code: "request-invalid", errors: result.errors });
  const errors = new ErrorList();
  for (const { path } of checkAdopted(result.request.observations.probes, adopted)) {
    const [probe = "", ...names] = path;
    errors.add({
      pointer: pointerOf(["observations", "probes", probe, "data", ...names]),
      code: "catalog-departure",
      detail: "departs from the published schema, and a feature reads it",
    });
  }
  return errors.entries.length > 0
    ? new RejectedRequest({ code: "adopted-field-invalid", errors: errors.entries })
    : result;
}
