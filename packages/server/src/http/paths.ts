import { reject } from "@device-risk-signals/contract";
import { type Answer, answerRejection, RejectedRequest } from "../ingest/request.ts";

export const OPENAPI_PATH = "/api/v1/openapi.json";

/** The path of a request target (RFC 9112 §3.2), without its query. */
export function pathOf(target: string): string {
  const path = target.startsWith("/") ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "") || "/";
  const end = path.search(/[?#]/);
  return end === -1 ? path : path.slice(0, end);
}

export const notFound = (): Answer => answerRejection(new RejectedRequest(reject("not-found")));

/** The OpenAPI document, read-only. */
export function answerOpenApi(method: string, document: string): Answer {
  if (method !== "GET" && method !== "HEAD") {
    return answerRejection(new RejectedRequest(reject("method-not-allowed"), { Allow: "GET, HEAD" }));
  }
  return { status: 200, headers: { "Content-Type": "application/json" }, body: document };
}
