import { ErrorList, reject } from "@device-risk-signals/contract";
import type { Accounts, ActionRegistry, AssignedPurpose, Purposes, RejectionCause } from "../base/ports.ts";
import { RejectedRequest } from "./request.ts";
import type { ValidRequest } from "./validate.ts";

export interface AdmitOptions {
  /** Maximum age of `collected_at` in milliseconds. */
  readonly maxAge: number;
  /** Maximum time in milliseconds by which `collected_at` may be ahead of the server's clock. */
  readonly maxFuture: number;
  readonly sessionBinding: "off" | "record" | "enforce";
}

export interface AdmitPorts {
  readonly actions: ActionRegistry;
  readonly purposes: Purposes;
  readonly accounts: Pick<Accounts, "isRefused">;
}

export interface Assignment {
  readonly purpose: AssignedPurpose;
  /** Whether the event contains more than its purpose covers. */
  readonly beyondPurpose: boolean;
}

export interface Admitted {
  readonly assigned: Assignment;
  readonly sessionMismatch: boolean;
}

type AdmittedRequest = Pick<ValidRequest, "collectedAt" | "probes" | "adoptedErrors"> & {
  readonly attributes: Pick<ValidRequest["attributes"], "actionId" | "actionType" | "sessionId">;
};

/**
 * Checks that no erasure rejects later events of the account, that adopted fields follow the published schema, that the
 * event is fresh, and that its action, session and purpose are valid. These checks do not apply to a replay: if a check
 * fails, the caller must look up the idempotency key in the ledger before it rejects the request.
 */
export async function admit(
  account: string,
  valid: AdmittedRequest,
  now: number,
  { actions, purposes, accounts }: AdmitPorts,
  options: AdmitOptions,
): Promise<Admitted | RejectedRequest> {
  if (accounts.isRefused(account)) return new RejectedRequest(reject("account-erased"));
  const { adoptedErrors: errors, collectedAt } = valid;
  // guard: features read only values of published types, and a replay is exempt
  if (errors.length > 0) return new RejectedRequest({ code: "adopted-field-invalid", errors });
  const { actionId, actionType, sessionId } = valid.attributes;
  const age = now - collectedAt.epochMs;
  const at = "/observations/collected_at";
  if (age > options.maxAge) return new RejectedRequest(reject("collected-at-stale", undefined, at));
  if (age < -options.maxFuture) return new RejectedRequest(reject("collected-at-future", undefined, at));

  const action = await actions.find(account, actionId, sessionId);
  const refuse = (cause: RejectionCause): RejectedRequest =>
    new RejectedRequest(reject("action-refused", undefined, "/action_id"), {}, cause);
  // A host in JavaScript may also return null.
  if (!action) return refuse("unknown");
  if (typeof action === "string") return refuse(action);
  if (action.actionType !== actionType) return refuse("other-type");
  if (action.expiresAt <= now) return refuse("expired");
  const sessionMismatch =
    options.sessionBinding !== "off" && action.sessionId !== undefined && action.sessionId !== sessionId;
  if (sessionMismatch && options.sessionBinding === "enforce") {
    return new RejectedRequest(reject("session-mismatch", undefined, "/observations/session_id"));
  }
  const assigned = assignPurpose(valid, purposes);
  return assigned instanceof RejectedRequest ? assigned : { assigned, sessionMismatch };
}

/** Chooses the purpose of an event by the active policy. */
export function assignPurpose(
  { attributes, probes }: Pick<AdmittedRequest, "attributes" | "probes">,
  purposes: Purposes,
): Assignment | RejectedRequest {
  const purpose = purposes.find(attributes.actionType);
  if (!purpose) return new RejectedRequest(reject("purpose-missing", undefined, "/action_type"));
  const errors = new ErrorList();
  for (const pointer of purpose.coverage?.(probes) ?? []) {
    errors.add({ pointer, code: "purpose-exceeded", detail: "is not covered by the purpose of this action type" });
    if (errors.full || purpose.beyond === "record") break;
  }
  const beyondPurpose = errors.entries.length > 0;
  if (beyondPurpose && purpose.beyond === "refuse") {
    return new RejectedRequest({ code: "purpose-exceeded", errors: errors.entries });
  }
  return { purpose, beyondPurpose };
}
