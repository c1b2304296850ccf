/** The operators' listener for health, metrics and the admin API. It is separate from the listener of the endpoint. */
import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { Readiness } from "../base/dependencies/readiness.ts";
import { http, https } from "../base/node-http.ts";
import type { OnError } from "../base/ports.ts";
import { hasOneHost, isForListener } from "./host.ts";
import { isPageRequest, pageFor, type PageFiles } from "./pages.ts";
import { notFound, pathOf } from "./paths.ts";
import type { TlsFiles } from "./server.ts";

export interface AdminOptions {
  /** Host names that requests may use, in lower case; IP addresses and loopback names always pass. */
  readonly hosts: readonly string[];
  /** Called with unexpected errors. */
  readonly onError: OnError;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  /** Answers every path below `/admin/`; absent if the process does not serve the admin API. */
  readonly api?: RequestListener;
  /** The pages of the console; absent if the process does not serve them. */
  readonly pages?: () => Promise<PageFiles | undefined>;
  readonly tls?: TlsFiles;
}

interface AdminAnswer {
  readonly status: number;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** Milliseconds for a request to arrive in full. */
const REQUEST_TIMEOUT_MS = 15_000;

export function createAdminServer(options: AdminOptions): Server {
  const listener: RequestListener = (request, response) => {
    const refused = refusal(request, options);
    const { api } = options;
    const path = pathOf(request.url ?? "/");
    if (!refused && api && path.startsWith("/admin/")) return api(request, response);
    const answering = refused ? Promise.resolve(refused) : answerPath(path, options, request);
    void answering
      .catch((): AdminAnswer => ({ status: 500, type: "text/plain", body: "failed\n" }))
      .then(({ status, headers, type, body }) => {
        response.writeHead(status, { ...headers, "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
        response.end(request.method === "HEAD" ? undefined : body);
      });
  };
  // `refusal` checks the `Host` of a request.
  const settings = { requireHostHeader: false, requestTimeout: REQUEST_TIMEOUT_MS };
  const server = options.tls
    ? https.createServer({ ...settings, ...options.tls, minVersion: "TLSv1.2" }, listener)
    : http.createServer(settings, listener);
  server.on("error", (error) => options.onError(error, "accept admin connection"));
  return server;
}

function refusal(request: IncomingMessage, { hosts }: AdminOptions): AdminAnswer | undefined {
  if (!hasOneHost(request)) return { status: 400, type: "text/plain", body: "a request names its host once\n" };
  if (isForListener(request, hosts)) return undefined;
  return { status: 421, type: "text/plain", body: "this host name is not in DRS_ADMIN_HOSTS\n" };
}

async function answerPath(
  path: string,
  { readiness, metrics, pages }: AdminOptions,
  request: IncomingMessage,
): Promise<AdminAnswer> {
  switch (path) {
    case "/livez":
      return { status: 200, type: "text/plain", body: "ok\n" };
    case "/readyz": {
      const { ready, lines } = await readiness();
      const body = [...(ready ? ["ok"] : []), ...lines, ""].join("\n");
      return { status: ready ? 200 : 503, type: "text/plain", body };
    }
    case "/metrics": {
      const { type, text } = await metrics();
      return { status: 200, type, body: text };
    }
    default: {
      const files = isPageRequest(request) ? await pages?.() : undefined;
      const page = files && pageFor(files, request);
      if (page) return page;
      const { status, headers, body } = notFound();
      return { status, type: headers["Content-Type"] ?? "text/plain", body };
    }
  }
}
