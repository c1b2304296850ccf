/** The operators' listener: health and metrics. Never on the endpoint's port. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Readiness } from "../dependencies/readiness.ts";
import type { OnError } from "../ports.ts";
import { hasOneHost, isForListener } from "./host.ts";
import { notFound, pathOf } from "./paths.ts";

export interface AdminOptions {
  /** Host names that requests may use, in lower case; IP addresses and loopback names always pass. */
  readonly hosts: readonly string[];
  /** Called with what should not happen. */
  readonly onError: OnError;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
}

interface AdminAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export function createAdminServer(options: AdminOptions): Server {
  // `respond` requires exactly one `Host`.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    void respond(request, options)
      .catch((): AdminAnswer => ({ status: 500, type: "text/plain", body: "failed\n" }))
      .then(({ status, type, body }) => {
        response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
        response.end(request.method === "HEAD" ? undefined : body);
      });
  });
  server.on("error", (error) => options.onError(error, "accept admin connection"));
  return server;
}

async function respond(request: IncomingMessage, options: AdminOptions): Promise<AdminAnswer> {
  if (!hasOneHost(request)) return { status: 400, type: "text/plain", body: "a request names its host once\n" };
  if (!isForListener(request, options.hosts)) {
    return { status: 421, type: "text/plain", body: "this host name is not in DRS_ADMIN_HOSTS\n" };
  }
  return answer(pathOf(request.url ?? "/"), options);
}

async function answer(path: string, { readiness, metrics }: AdminOptions): Promise<AdminAnswer> {
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
      const { status, headers, body } = notFound();
      return { status, type: headers["Content-Type"] ?? "text/plain", body };
    }
  }
}
