import { type AttemptResult, later, type RequestError } from "./send-result.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

const PROBLEM_TYPE = /^urn:problem:device-risk-signals:([a-z-]{1,64})$/;
const VIOLATION_CODE = /^[a-z-]{1,64}$/;
const MAX_ERRORS = 100;
const MAX_POINTER_LENGTH = 1_024;

/** Statuses after which a retry makes sense. A server sends them, except 407, which a proxy sends. */
const RETRYABLE = /^(407|408|425|429|5\d\d)$/;

/** The status of a request that a server or a proxy finds too large. No repetition makes the request smaller. */
export const TOO_LARGE = 413;

/**
 * Reads an answer. The event counts as stored only if the answer is a 200 or 201 with `event_id` and `created`. It
 * counts as rejected only if the answer is a problem document of the server, or has the status 413, with which a proxy
 * in front of the server sends its own page. The page of a captive portal, which may have any other status, means
 * neither. Results are logged, and a hostile answer may quote the token. So the result takes
 * from the answer only short codes, pointers of limited length, and `event_id`.
 */
export function readAnswer({ status, text, retryAfterMs }: Answer): AttemptResult {
  const { event_id, created, type, errors } = readObject(text);
  const code = typeof type === "string" ? PROBLEM_TYPE.exec(type)?.[1] : undefined;
  if (status === 401) return later("signed-out", { status, code });
  if (RETRYABLE.test(String(status)) || code === "body-corrupt") {
    return later("busy", { status, code, retryAfterMs });
  }
  if ((code && status >= 400) || status === TOO_LARGE) {
    const reason = status === 409 ? "conflict" : "rejected";
    return { outcome: "refused", reason, status, code, errors: readErrors(errors) };
  }
  const isStored = status === 200 || status === 201;
  if (isStored && typeof event_id === "string" && event_id && typeof created === "boolean") {
    return { outcome: created ? "stored" : "replayed", eventId: event_id };
  }
  // A page, a redirect, or the status 0 of a redirect that fetch didn't follow.
  return later("unintelligible", { status });
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function readErrors(errors: unknown): RequestError[] {
  const list: readonly unknown[] = Array.isArray(errors) ? errors.slice(0, MAX_ERRORS) : [];
  return list.flatMap((error) => {
    const { pointer, code } = Object(error) as Record<string, unknown>;
    const isError = typeof pointer === "string" && typeof code === "string" && VIOLATION_CODE.test(code);
    return isError ? { pointer: pointer.slice(0, MAX_POINTER_LENGTH), code } : [];
  });
}
