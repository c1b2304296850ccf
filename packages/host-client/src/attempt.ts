import { bounded, type Bounds } from "./bounded.ts";
import type { ClientSettings } from "./client-options.ts";
import type { FetchInit, FetchResponse } from "./fetch-function.ts";
import type { HostAbortSignal } from "./host-globals.ts";
import { throwMisuse } from "./misuse.ts";
import { readAnswer, TOO_LARGE } from "./read-answer.ts";
import { readRetryAfter } from "./retry-after.ts";
import { type AttemptResult, EXPIRED, later } from "./send-result.ts";
import { isExpired, type SignalRequest } from "./signal-request.ts";

/** Makes one attempt: gets a token, sends the request and reads the answer, all within `timeoutMs`. */
export async function attempt(
  settings: ClientSettings,
  request: SignalRequest,
  refresh: boolean,
  signal: HostAbortSignal | undefined,
): Promise<AttemptResult> {
  const exchange = async (bounds: Bounds): Promise<AttemptResult> => {
    const token = await obtainToken(settings, refresh);
    if (typeof token !== "string") return token;
    if (bounds.isOver()) return later("aborted");
    // The event may have expired since `deliver` checked it, because the function `token` may take long.
    if (isExpired(request)) return EXPIRED;
    return post(settings, request, token, bounds.signal);
  };
  const result = await bounded(exchange, settings.timeoutMs, signal);
  return typeof result === "string" ? later(result) : result;
}

/**
 * @throws TypeError if the host's function returns a value that a header can't have. The message does not contain the
 * value.
 */
async function obtainToken({ token }: ClientSettings, refresh: boolean): Promise<string | AttemptResult> {
  let value: unknown;
  try {
    value = await token({ refresh });
  } catch {
    return later("no-token");
  }
  if (value === undefined || value === null || value === "") return later("signed-out");
  if (typeof value === "string" && /^[!-~]+$/.test(value)) return value;
  throw new TypeError("token must return visible ASCII");
}

/** @throws TypeError if the host's `fetch` does not resolve to a response. */
async function post(
  { fetch, url }: ClientSettings,
  { key, body }: SignalRequest,
  token: string,
  signal: unknown,
): Promise<AttemptResult> {
  const init = {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Idempotency-Key": key, "Content-Type": "application/json" },
    body,
    redirect: "manual",
    signal,
  } as unknown as FetchInit;
  let response: FetchResponse;
  try {
    response = await fetch(url, init);
  } catch {
    // The error is not kept as a cause, because some platforms quote the headers, and so the token, in their messages.
    return later("network");
  }
  requireResponse(response);
  const { status, headers } = response;
  const retryAfterMs = readRetryAfter(headers.get("Retry-After"), headers.get("Date"), Date.now());
  let text: unknown;
  try {
    text = await response.text();
  } catch {
    if (status !== TOO_LARGE) return later("network");
    // A proxy that refuses a large body often closes the connection before its page has arrived.
    text = "";
  }
  throwMisuse("fetch", [typeof text !== "string" && "text() of its response must return a text"]);
  return readAnswer({ status, text: text as string, retryAfterMs });
}

/** @throws TypeError naming every member that the client needs and that the response of the host's function lacks. */
function requireResponse(response: unknown): void {
  const { status, headers, text } = Object(response) as Partial<FetchResponse>;
  throwMisuse("fetch", [
    typeof status !== "number" && "status of its response must be a number",
    typeof headers?.get !== "function" && "headers.get of its response must be a function",
    typeof text !== "function" && "text of its response must be a function",
  ]);
}
