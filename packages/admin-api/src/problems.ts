/** The problem types (RFC 9457) of the admin API; `type` is `urn:problem:device-risk-signals:admin:<code>`. */

interface ProblemDefinition {
  readonly status: number;
  readonly title: string;
  /** When the server answers this problem, and what the caller can do. */
  readonly when: string;
}

export const ADMIN_PROBLEMS = {
  "request-invalid": {
    status: 400,
    title: "Request invalid",
    when: "A parameter or the body is not what the route takes; `errors` says which and where. Values are not repeated.",
  },
  "credentials-missing": {
    status: 401,
    title: "Credentials missing",
    when: "The request has neither `Authorization: Bearer <admin-token>` nor the cookie of a session.",
  },
  "credentials-invalid": {
    status: 401,
    title: "Credentials invalid",
    when: "The token or the session is malformed, unknown, expired or revoked, or the request has more than one credential.",
  },
  "permission-missing": {
    status: 403,
    title: "Permission missing",
    when: "None of the caller's roles has the permission of the route; `docs/permissions.md` lists them.",
  },
  "cross-site": {
    status: 403,
    title: "Cross-site request",
    when: "A page of another origin sent the request.",
  },
  "tls-required": {
    status: 403,
    title: "TLS required",
    when: "The admin API is served in the clear on loopback only.",
  },
  "case-invalid": {
    status: 403,
    title: "Case does not allow it",
    when: "The case is closed, has expired, belongs to another person, or does not cover the event.",
  },
  "sign-in-invalid": {
    status: 400,
    title: "Sign-in invalid",
    when: "This browser did not begin the sign-in, has ended it before, or took more than ten minutes; or the answer of the identity provider does not match. Begin again.",
  },
  "sign-in-refused": {
    status: 403,
    title: "Sign-in refused",
    when: "The identity provider confirms the person, but the role file gives them no role; `detail` says what to do.",
  },
  "step-up-required": {
    status: 403,
    title: "Recent sign-in required",
    when: "The operation needs proof of the last five minutes: sign in at `/admin/v1/sign-in?max_age=300`, or by `drs login --fresh`. An admin token can't give it.",
  },
  "not-found": { status: 404, title: "Not found", when: "The path, or what the path names, does not exist." },
  "method-not-allowed": {
    status: 405,
    title: "Method not allowed",
    when: "The path has other methods; `Allow` names them.",
  },
  "state-conflict": {
    status: 409,
    title: "State conflict",
    when: "The present state does not allow the change; `detail` says what to do first.",
  },
  "body-too-large": {
    status: 413,
    title: "Body too large",
    when: "The body exceeds the limit of the route, which is 64 KB for most.",
  },
  "media-type-unsupported": {
    status: 415,
    title: "Media type not supported",
    when: "A body is sent as anything but `application/json`.",
  },
  "too-many-requests": {
    status: 429,
    title: "Too many requests",
    when: "The caller, or failed authentications from its address, exceed the rate. Wait for `Retry-After` seconds.",
  },
  "keys-destroyed": {
    status: 410,
    title: "Keys destroyed",
    when: "The event's secrets are destroyed: only its attributes can be read.",
  },
  failed: { status: 500, title: "Failed", when: "The server failed; its log names the operation. Nothing was shown." },
  unavailable: {
    status: 503,
    title: "Unavailable",
    when: "A dependency can't be reached, or the server must replay the erasure journal first. Wait for `Retry-After` seconds.",
  },
} as const satisfies Readonly<Record<string, ProblemDefinition>>;

export type AdminProblemCode = keyof typeof ADMIN_PROBLEMS;

/** One violation of the request. */
export interface AdminViolation {
  /** JSON Pointer (RFC 6901) into the body, or the name of a parameter. */
  readonly where: string;
  readonly detail: string;
}

export interface AdminProblem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly errors?: readonly AdminViolation[];
  /** Code of an error for operators (`docs/errors.md`), if the operation failed with such an error. */
  readonly code?: string;
  /** The approval that the operation waits for, with the code `approval-needed`. */
  readonly approval_id?: string;
}

const PREFIX = "urn:problem:device-risk-signals:admin:";

/** @param detail default: the definition's `when`. */
export function adminProblem(
  code: AdminProblemCode,
  detail: string = ADMIN_PROBLEMS[code].when,
  errors?: readonly AdminViolation[],
): AdminProblem {
  const { status, title } = ADMIN_PROBLEMS[code];
  return { type: `${PREFIX}${code}`, title, status, detail, ...(errors && { errors }) };
}

/** What a problem says to a person: what is wrong with the request, or else the detail, which is more general. */
export const describeProblem = ({ detail, errors = [] }: AdminProblem): string =>
  errors.map(({ where, detail: what }) => `${where}: ${what}`).join("\n") || detail;

/** @returns the code of a problem document; `undefined` if the document does not come from the admin API */
export function adminProblemCode(problem: { readonly type?: unknown }): AdminProblemCode | undefined {
  const code = String(problem.type).slice(PREFIX.length);
  return code in ADMIN_PROBLEMS && problem.type === `${PREFIX}${code}` ? (code as AdminProblemCode) : undefined;
}
