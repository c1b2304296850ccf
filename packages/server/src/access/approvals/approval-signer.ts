/** Signs requests for approvals and decisions about them with a key that the database does not contain. */
import { type NumberedIds, numberedIds } from "../../store/crypto/numbered-ids.ts";
import type { RowSigner, SignedValues } from "../../store/crypto/row-signer.ts";

/** The signed content of a request for an approval. */
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
  /** The person who obtained the admin token of the request, if this is another person; otherwise `null`. */
  readonly obtained_by: string | null;
  /** RFC 3339 with milliseconds, as in `expires_at`. */
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
  readonly #signer: RowSigner;

  constructor(signer: RowSigner) {
    this.#signer = signer;
  }

  /** The ids of the requests of a person for an operation. @param digest the `digest` of the `ApprovalRequest`. */
  idsOf(person: string, digest: Buffer): NumberedIds {
    return numberedIds(this.#signer, "approval id", person, digest.toString("hex"));
  }

  signRequest(request: ApprovalRequest): Buffer {
    return this.#signer.sign(requestValues(request));
  }

  /** @param requestMac the MAC of the request, so that a decision about one request is invalid for another. */
  signDecision(requestMac: Buffer, decision: ApprovalDecision): Buffer {
    return this.#signer.sign(decisionValues(requestMac, decision));
  }

  /** Whether the admin API signed the request and each of the decisions. */
  isSigned(
    request: ApprovalRequest & { readonly mac: Buffer },
    decisions: readonly (ApprovalDecision & { readonly mac: string })[],
  ): boolean {
    return (
      this.#signer.isSigned(requestValues(request), request.mac) &&
      decisions.every((one) => this.#signer.isSigned(decisionValues(request.mac, one), Buffer.from(one.mac, "hex")))
    );
  }
}

const requestValues = (request: ApprovalRequest): SignedValues => [
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
];

const decisionValues = (requestMac: Buffer, { person, role, decision, decided_at }: ApprovalDecision): SignedValues => [
  "decision",
  requestMac.toString("hex"),
  person,
  role,
  decision,
  decided_at,
];
