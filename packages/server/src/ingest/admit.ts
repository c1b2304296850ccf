import { reject } from "@device-risk-signals/contract";
import type { ActionRegistry } from "../ports.ts";
import { Refusal } from "./request.ts";
import type { ValidRequest } from "./validate.ts";

export interface AdmitOptions {
  /** Milliseconds. */
  readonly maxAge: number;
  /** Milliseconds. */
  readonly maxFuture: number;
  readonly sessionBinding: "off" | "record" | "enforce";
}

/** Freshness, action, session binding. A replay is exempt from all of them: the caller looks into the ledger. */
export async function admit(
  account: string,
  { request, collectedAt }: ValidRequest,
  now: number,
  actions: ActionRegistry,
  options: AdmitOptions,
): Promise<{ readonly sessionMismatch: boolean } | Refusal> {
  const age = now - collectedAt.epochMs;
  const at = "/observations/collected_at";
  if (age > options.maxAge) return new Refusal(reject("collected-at-stale", undefined, at));
  if (age < -options.maxFuture) return new Refusal(reject("collected-at-future", undefined, at));

  const action = await actions.find(account, request.action_id, request.observations.session_id);
  if (!action || action.actionType !== request.action_type || action.expiresAt <= now) {
    return new Refusal(reject("action-refused", undefined, "/action_id"));
  }
  const sessionMismatch =
    options.sessionBinding !== "off" &&
    action.sessionId !== undefined &&
    action.sessionId !== request.observations.session_id;
  if (sessionMismatch && options.sessionBinding === "enforce") {
    return new Refusal(reject("session-mismatch", undefined, "/observations/session_id"));
  }
  return { sessionMismatch };
}
