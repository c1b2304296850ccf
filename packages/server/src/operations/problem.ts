/** Translates the error of an operation into a problem document. */
import {
  type AdminProblem,
  adminProblem,
  type AdminProblemCode,
  type AdminViolation,
} from "@device-risk-signals/admin-api";
import type { FalseCredential } from "../access/identity/false-credentials.ts";
import type { OperatorErrorCode } from "../base/errors/codes.ts";
import { hasCode, OperatorError } from "../base/errors/operator-error.ts";
import { translateDriverError } from "../store/postgres/errors.ts";

/** An operation ends with this problem. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly problem: AdminProblem;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the operation has written the audit entry about this problem. */
  isAudited = false;
  /** What was false about the credentials of the request, if anything. */
  readonly credential: FalseCredential | undefined;

  constructor(
    code: AdminProblemCode,
    options: {
      readonly detail?: string;
      readonly errors?: readonly AdminViolation[];
      /** Code of an error for operators. */
      readonly code?: OperatorErrorCode;
      readonly approvalId?: string | undefined;
      readonly headers?: Readonly<Record<string, string>>;
      readonly credential?: FalseCredential | undefined;
    } = {},
  ) {
    const problem = adminProblem(code, options.detail, options.errors);
    super(problem.detail);
    const { code: operatorCode, approvalId } = options;
    this.problem = {
      ...problem,
      ...(operatorCode !== undefined && { code: operatorCode }),
      ...(approvalId !== undefined && { approval_id: approvalId }),
    };
    this.headers = options.headers ?? {};
    this.credential = options.credential;
  }
}

const RETRY_AFTER = { "Retry-After": "1" };

/** Problems of errors for operators; all others are `failed`. */
const PROBLEM_OF_CODE: Partial<Readonly<Record<OperatorErrorCode, AdminProblemCode>>> = {
  "not-found": "not-found",
  "input-invalid": "request-invalid",
  "wrong-usage": "request-invalid",
  "state-conflict": "state-conflict",
  "policy-incomplete": "state-conflict",
  "pass-running": "state-conflict",
  "journal-required": "state-conflict",
  "key-versions-fixed": "state-conflict",
  "approval-needed": "state-conflict",
  "approval-changed": "state-conflict",
  "call-timed-out": "state-conflict",
  "call-interrupted": "unavailable",
  "keys-destroyed": "keys-destroyed",
  "dependency-unavailable": "unavailable",
  "dependency-silent": "unavailable",
  "dependency-unusable": "unavailable",
  "secret-missing": "unavailable",
  "feature-not-started": "unavailable",
  "replay-needed": "unavailable",
  "schema-outdated": "unavailable",
};

/**
 * The problem of an error. The caller sees messages of errors for operators, because these contain no secret and no
 * value of a client.
 * @returns the problem for the caller, and the error itself if an operator must see it in the log.
 */
export function adminErrorOf(error: unknown): { readonly shown: AdminError; readonly unexpected?: unknown } {
  if (error instanceof AdminError) return { shown: error };
  const known = error instanceof OperatorError ? error : translateDriverError(error);
  if (!known) return { shown: new AdminError("failed"), unexpected: error };
  const { message: detail } = known;
  const code: OperatorErrorCode = known.code;
  const problem = PROBLEM_OF_CODE[code] ?? "failed";
  const isCallers = problem !== "failed" && problem !== "unavailable";
  const headers = problem === "unavailable" ? RETRY_AFTER : {};
  const approvalId = hasCode(known, "approval-needed") ? known.detail?.approvalId : undefined;
  const shown = new AdminError(problem, { detail, code, headers, approvalId });
  return isCallers ? { shown } : { shown, unexpected: error };
}
