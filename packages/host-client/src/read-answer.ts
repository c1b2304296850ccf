import { later, type RequestError, type Verdict } from "./send-result.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

const PROBLEM = "urn:problem:device-risk-signals:";

/** Statuses of a server, or of a proxy (407), that can be asked again. */
const COME_AGAIN = /^(407|408|425|429|5\d\d)$/;

/**
 * What an answer means. Only a 200 or 201 that holds `event_id` and `created` says that the event is stored; a page
 * with status 200, as captive portals send, does not.
 */
export function readAnswer({ status, text, retryAfterMs }: Answer): Verdict {
  const { event_id, created, type, errors } = readObject(text);
  const code = typeof type === "string" && type.startsWith(PROBLEM) ? type.slice(PROBLEM.length) : undefined;
  if (status === 401) return later("signed-out", { status, code });
  if (COME_AGAIN.test(String(status)) || code === "body-corrupt") {
    return later("busy", { status, code, retryAfterMs });
  }
  if (status >= 400) {
    const reason = status === 409 ? "conflict" : "rejected";
    return { outcome: "refused", reason, status, code, errors: readErrors(errors) };
  }
  if ((status === 200 || status === 201) && typeof event_id === "string" && event_id && typeof created === "boolean") {
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
  const list: readonly Partial<RequestError>[] = Array.isArray(errors) ? errors : [];
  return list.map((error) => ({ pointer: String(error?.pointer), code: String(error?.code) }));
}
