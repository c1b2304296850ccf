/**
 * Every rejection of the endpoint. Types, the OpenAPI document, `docs/errors.md` and the tests derive from the tables
 * `PROBLEMS` and `VIOLATIONS`: the endpoint can't answer any other code.
 */

interface ProblemDefinition {
  readonly status: number;
  readonly title: string;
  /** When the rejection happens, and what the caller can do. */
  readonly when: string;
}

/**
 * The problem types (RFC 9457) by code; the `type` of a problem document is `urn:problem:device-risk-signals:<code>`.
 */
export const PROBLEMS = {
  "method-not-allowed": {
    status: 405,
    title: "Method not allowed",
    when: "The path takes another method; `Allow` names it.",
  },
  "credentials-missing": {
    status: 401,
    title: "Credentials missing",
    when: "The `Authorization` header is absent. Send `Authorization: Bearer <application-session-token>`.",
  },
  "credentials-invalid": {
    status: 401,
    title: "Credentials invalid",
    when: "The token is malformed, unknown, expired or revoked, or there was more than one. Get a new one.",
  },
  "too-many-failures": {
    status: 429,
    title: "Too many failed authentications",
    when: "This source address failed to authenticate too often. Requests from this address with valid credentials are still accepted.",
  },
  "too-many-requests": {
    status: 429,
    title: "Too many requests",
    when: "The account exceeds its rate, or has too many requests in progress. Try again after `Retry-After`, with the same idempotency key.",
  },
  "idempotency-key-missing": {
    status: 400,
    title: "Idempotency key missing",
    when: "The `Idempotency-Key` header is absent or empty.",
  },
  "idempotency-key-invalid": {
    status: 400,
    title: "Idempotency key invalid",
    when: "`Idempotency-Key` was sent more than once, is longer than 128 characters, or contains characters other than visible ASCII.",
  },
  "media-type-unsupported": {
    status: 415,
    title: "Media type not supported",
    when: "`Content-Type` is not `application/json` in UTF-8.",
  },
  "encoding-unsupported": {
    status: 415,
    title: "Content encoding not supported",
    when: "`Content-Encoding` is neither `identity` nor `gzip` (`x-gzip`), or `Transfer-Encoding` is not `chunked`.",
  },
  "body-corrupt": {
    status: 400,
    title: "Body corrupt",
    when: "The body ended early or is not the gzip data that `Content-Encoding` promises.",
  },
  "body-too-large": {
    status: 400,
    title: "Body too large",
    when: "The decompressed body exceeds the limit (262,144 bytes unless configured). Reading stopped there.",
  },
  "text-invalid": {
    status: 400,
    title: "Body is not valid JSON text",
    when: "The body is not UTF-8, not JSON (RFC 8259), or not I-JSON (RFC 7493). `errors` says which and where.",
  },
  "request-invalid": {
    status: 400,
    title: "Request invalid",
    when: "The transport request or its raw event breaks the contract. `errors` lists every violation, up to 100.",
  },
  "adopted-field-invalid": {
    status: 400,
    title: "Adopted field invalid",
    when: "A field that an adopted feature reads departs from the published schema.",
  },
  "collected-at-stale": {
    status: 400,
    title: "Collection too old",
    when: "`collected_at` is further in the past than the freshness window. Collect again.",
  },
  "collected-at-future": {
    status: 400,
    title: "Collection in the future",
    when: "`collected_at` is further in the future than the tolerated clock difference.",
  },
  "action-refused": {
    status: 403,
    title: "Action refused",
    when: "`action_id` is unknown, expired, of another account or of another `action_type`. The answer does not say which.",
  },
  "account-erased": {
    status: 403,
    title: "Account erased",
    when: "The account was erased with the order to reject its later events.",
  },
  "purpose-missing": {
    status: 403,
    title: "No purpose for this action type",
    when: "The operator keeps events of mapped action types only, and this `action_type` is not mapped to a purpose.",
  },
  "purpose-exceeded": {
    status: 403,
    title: "More than the purpose covers",
    when: "The purpose of this `action_type` does not cover everything that the event holds, and the operator rejects such events. `errors` names the excess; collect without it.",
  },
  "session-mismatch": {
    status: 403,
    title: "Session mismatch",
    when: "`session_id` is not the session value that the action was issued with, and the server enforces it.",
  },
  "idempotency-conflict": {
    status: 409,
    title: "Idempotency key already used",
    when: "This account has used the idempotency key for another request. Use a new key for a new event.",
  },
  "not-found": { status: 404, title: "Not found", when: "No resource exists at this path." },
  "request-timeout": {
    status: 408,
    title: "Request timed out",
    when: "The request did not arrive in full within the time allowed.",
  },
  "headers-too-large": {
    status: 431,
    title: "Header section too large",
    when: "The request's header section exceeds the HTTP parser's limit.",
  },
  "http-malformed": { status: 400, title: "Malformed HTTP request", when: "The HTTP parser rejected the request." },
  "storage-failed": {
    status: 500,
    title: "Storage failed",
    when: "An unexpected error; the event may be stored or not. Retry with the same idempotency key and the same bytes.",
  },
  overloaded: {
    status: 503,
    title: "Overloaded",
    when: "Too many requests or bytes of bodies are in progress. Retry after `Retry-After`.",
  },
  draining: { status: 503, title: "Shutting down", when: "This process is about to stop. Retry after `Retry-After`." },
  unavailable: {
    status: 503,
    title: "Temporarily unavailable",
    when: "The database, the key store or the session verifier can't be reached, or the disk is full. The event may be stored or not. Retry after `Retry-After`, with the same bytes.",
  },
} as const satisfies Record<string, ProblemDefinition>;

export type ProblemCode = keyof typeof PROBLEMS;

/**
 * The codes of violations in `errors`. A rejection that `reject` makes has one entry, whose code is the code of the
 * problem.
 */
export const VIOLATIONS = {
  "utf8-invalid": "Bytes that are not UTF-8.",
  "byte-order-mark": "A byte order mark before the JSON text.",
  "json-invalid": "Not a JSON text, or something after it.",
  "duplicate-member": "A member name that occurs twice in one object.",
  "lone-surrogate": "A `\\u` escape of half a surrogate pair.",
  "number-overflow": "A number beyond the range of a double.",
  "nesting-too-deep": "More than 64 levels of objects and arrays.",
  "member-missing": "A required member is absent.",
  "member-unknown": "A member that the contract does not list at this place.",
  "type-wrong": "A value of another JSON type than the contract requires.",
  "value-not-allowed": "Not one of the values that the contract allows.",
  "too-short": "An empty string where one character is the least.",
  "too-long": "A string longer than the contract allows, in code points.",
  "character-not-allowed": "U+0000 in a string that is stored as a query attribute.",
  "date-time-invalid": "Not a date-time of RFC 3339 with an offset.",
  "catalog-departure": "An adopted field whose value departs from the published schema.",
  "more-errors": "The list ends here and there are more: an answer lists 100.",
} as const;

export type ViolationCode = keyof typeof VIOLATIONS;

/** One entry of a problem document's `errors`. Names of members may appear in it, values never. */
export interface ErrorItem {
  /** JSON Pointer (RFC 6901) into the request body; empty for the whole request, including its headers. */
  readonly pointer: string;
  readonly code: ViolationCode | ProblemCode;
  readonly detail: string;
}

/** The problem document (RFC 9457) of every answer that is not a 200 or 201. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly errors: readonly ErrorItem[];
}

/** An expected rejection. Functions return it as a value, and one function turns it into an HTTP answer. */
export interface Rejection {
  readonly code: ProblemCode;
  readonly errors: readonly ErrorItem[];
}

/** A rejection with one entry, by default about the whole request. */
export function reject(code: ProblemCode, detail: string = PROBLEMS[code].when, pointer = ""): Rejection {
  return { code, errors: [{ pointer, code, detail }] };
}

/** Maximum number of entries in one answer. */
const MAX_ERRORS = 100;
/**
 * Maximum total length of the entries of one answer, as JSON. Names in pointers come from the client, and must not make
 * the answer many times as long as the request.
 */
const MAX_ERROR_CHARACTERS = 65_536;

/**
 * The last entry of a shortened list. It does not say how many more there are, because the search may have ended early.
 */
const MORE_ERRORS: ErrorItem = { pointer: "", code: "more-errors", detail: "There are more; only these are listed." };

/**
 * Collects up to 100 entries of a rejection. Instead of entry 101 it adds `MORE_ERRORS`, and is then full. A search for
 * violations ends when the list is full, so that a request with many violations does not cost more time.
 */
export class ErrorList {
  readonly #entries: ErrorItem[] = [];

  get entries(): readonly ErrorItem[] {
    return this.#entries;
  }

  get full(): boolean {
    return this.#entries.length > MAX_ERRORS;
  }

  add(entry: ErrorItem): void {
    if (!this.full) this.#entries.push(this.#entries.length < MAX_ERRORS ? entry : MORE_ERRORS);
  }
}

/** Shortens the list of entries if it exceeds the length that one answer may have. */
function firstErrors(errors: readonly ErrorItem[]): readonly ErrorItem[] {
  let characters = 0;
  const end = errors.findIndex((entry) => (characters += JSON.stringify(entry).length) > MAX_ERROR_CHARACTERS);
  return end === -1 ? errors : [...errors.slice(0, end), MORE_ERRORS];
}

export function problemOf({ code, errors }: Rejection): Problem {
  const { status, title } = PROBLEMS[code];
  const shown = firstErrors(errors);
  const first = shown[0]?.detail ?? PROBLEMS[code].when;
  const count = shown.at(-1) === MORE_ERRORS ? "" : ` ${shown.length - 1}`;
  const more = shown.length > 1 ? ` (and${count} more, see errors)` : "";
  return { type: `urn:problem:device-risk-signals:${code}`, title, status, detail: first + more, errors: shown };
}
