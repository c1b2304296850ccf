import {
  type ErrorItem,
  ErrorList,
  type Instant,
  pointerOf,
  type TransportRequest,
  validateTransportRequest,
} from "@device-risk-signals/contract";
import { type AdoptedFields, checkAdopted } from "@device-risk-signals/contract/catalog/adopted";
import { checkAgainstCatalog } from "@device-risk-signals/contract/catalog/check";
import { outcomesOf } from "@device-risk-signals/contract/catalog/outcomes";
import type { EventProbes, PromotedAttributes } from "../base/ports.ts";
import { locateObservations } from "./locate-observations.ts";
import { RejectedRequest } from "./request.ts";

/** The attributes that come from the body. */
export type SentAttributes = Pick<
  PromotedAttributes,
  "actionId" | "actionType" | "sessionId" | "eventType" | "schemaVersion" | "sdkVersion" | "platform" | "appVersion"
>;

export interface ValidRequest {
  readonly attributes: SentAttributes;
  readonly collectedAt: Instant;
  /** The bytes of the event as they were sent. */
  readonly exact: Buffer;
  readonly probes: EventProbes;
  readonly parsed: () => TransportRequest;
  /** Where fields that features read depart from the published schema: reasons to reject a request, but no replay. */
  readonly adoptedErrors: readonly ErrorItem[];
}

/**
 * Checks a request against the wire rules, and compares the fields that features read with the published schema.
 *
 * @param value the parsed body.
 */
export function validate(value: unknown, body: Buffer, adopted: AdoptedFields): ValidRequest | RejectedRequest {
  const result = validateTransportRequest(value);
  if (!result.ok) return new RejectedRequest({ code: "request-invalid", errors: result.errors });
  const { request, collectedAt } = result;
  const { observations } = request;
  const { probes } = observations;
  const errors = new ErrorList();
  for (const { path } of checkAdopted(probes, adopted)) {
    const [probe = "", ...names] = path;
    errors.add({
      pointer: pointerOf(["observations", "probes", probe, "data", ...names]),
      code: "catalog-departure",
      detail: "departs from the published schema, and a feature reads it",
    });
  }
  return {
    attributes: {
      actionId: request.action_id,
      actionType: request.action_type,
      sessionId: observations.session_id,
      eventType: observations.event_type,
      schemaVersion: observations.schema_version,
      sdkVersion: request.sdk_version,
      platform: request.platform,
      appVersion: request.app_version ?? "",
    },
    collectedAt,
    exact: locateObservations(body),
    probes: {
      departures: () => checkAgainstCatalog(probes),
      outcomes: () => outcomesOf(probes),
      areCovered: () => false,
      parsed: () => probes,
    },
    parsed: () => request,
    adoptedErrors: errors.entries,
  };
}
