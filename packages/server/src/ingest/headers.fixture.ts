import type { RequestHeaders } from "./request.ts";

/** Makes headers as an edge passes them on. A header that was sent more than once has a list of values. */
export function headersOf(headers: Readonly<Record<string, string | readonly string[]>>): RequestHeaders {
  return { all: (name) => [headers[name] ?? []].flat() };
}
