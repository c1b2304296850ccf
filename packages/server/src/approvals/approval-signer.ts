/** Signs requests for approvals and decisions about them with a key that the database does not contain. */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { canonicalize } from "@device-risk-signals/contract";

/** The content of a request, with the person who asks and the time. */
export interface ApprovalRequest {
  readonly approval_id: string;
  readonly operation: string;
  /** The parameters as a JSON value, like the plan. */
  readonly parameters: unknown;
  readonly plan: unknown;
  readonly max_events: number;
  /** SHA-256 of operation, parameters and roles. */
  readonly digest: Buffer;
  readonly needed_roles: readonly string[];
  readonly any_role: boolean;
  readonly reason: string;
  readonly requested_by: string;
  /** The person who obtained the admin token that asked, where that is another person. */
  readonly obtained_by: string | null;
  /** RFC 3339, to the millisecond, like the next one. */
  readonly requested_at: string;
  readonly expires_at: string;
}

/** The decision of a person for one of the needed roles. */
export interface ApprovalDecision {
  readonly person: string;
  readonly role: string;
  readonly decision: "approved" | "denied";
  /** The time in RFC 3339, with milliseconds. */
  readonly decided_at: string;
}

export class ApprovalSigner {
  readonly #key: KeyObject;

  constructor(key: KeyObject) {
    this.#key = key;
  }

  signRequest(request: ApprovalRequest): Buffer {
    return this.#sign([
      "request",
      request.approval_id,
      request.operation,
      request.parameters,
      request.plan,
      request.max_events,
      request.digest.toString("hex"),
      request.needed_roles,
      request.any_role,
      request.reason,
      request.requested_by,
      request.obtained_by,
      request.requested_at,
      request.expires_at,
    ]);
  }

  /** @param requestMac the MAC of the request, so that a decision about one request is invalid for another. */
  signDecision(requestMac: Buffer, { person, role, decision, decided_at }: ApprovalDecision): Buffer {
    return this.#sign(["decision", requestMac.toString("hex"), person, role, decision, decided_at]);
  }

  /** Whether the admin API has signed the request and each of its decisions. */
  isSigned(
    request: ApprovalRequest & { readonly mac: Buffer },
    decisions: readonly (ApprovalDecision & { readonly mac: string })[],
  ): boolean {
    return (
      isEqual(this.signRequest(request), request.mac) &&
      decisions.every((one) => isEqual(this.signDecision(request.mac, one), Buffer.from(one.mac, "hex")))
    );
  }

  #sign(record: readonly unknown[]): Buffer {
    return createHmac("sha256", this.#key).update(canonicalize(record)).digest();
  }
}

const isEqual = (expected: Buffer, mac: Buffer): boolean =>
  mac.length === expected.length && timingSafeEqual(expected, mac);
