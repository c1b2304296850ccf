/** Turns what an operation throws into a problem document. */
import {
  type AdminProblem,
  adminProblem,
  type AdminProblemCode,
  type AdminViolation,
} from "@device-risk-signals/admin-api";
import { areKeysDestroyed } from "../../ports.ts";
import { OperatorError } from "../../errors/operator-error.ts";
import { translateDriverError } from "../../postgres/errors.ts";

/** An operation ends with this problem. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly problem: AdminProblem;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: AdminProblemCode,
    options: {
      readonly detail?: string;
      readonly errors?: readonly AdminViolation[];
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    const problem = adminProblem(code, options.detail, options.errors);
    super(problem.detail);
    this.problem = problem;
    this.headers = options.headers ?? {};
  }
}

const RETRY_AFTER = { "Retry-After": "1" };

/** Problems of operators' errors. The messages of these hold no value of a client. */
const OF_CODES: Readonly<Record<string, AdminProblemCode>> = {
  "not-found": "not-found",
  "input-invalid": "request-invalid",
  "wrong-usage": "request-invalid",
  "state-conflict": "state-conflict",
  "pass-running": "state-conflict",
  "journal-required": "state-conflict",
};
const UNAVAILABLE = new Set<string>([
  "dependency-unavailable",
  "dependency-silent",
  "dependency-unusable",
  "replay-needed",
  "schema-outdated",
]);

/** @returns the problem, and the error where it should not have happened. */
export function adminErrorOf(error: unknown): { readonly shown: AdminError; readonly unexpected?: unknown } {
  if (error instanceof AdminError) return { shown: error };
  if (areKeysDestroyed(error)) return { shown: new AdminError("keys-destroyed") };
  const known = error instanceof OperatorError ? error : translateDriverError(error);
  const code = known && OF_CODES[known.code];
  if (known && code) return { shown: new AdminError(code, { detail: known.message }) };
  if (known && UNAVAILABLE.has(known.code)) {
    return { shown: new AdminError("unavailable", { headers: RETRY_AFTER }), unexpected: error };
  }
  return { shown: new AdminError("failed"), unexpected: error };
}
