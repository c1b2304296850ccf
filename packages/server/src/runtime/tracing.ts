import {
  context,
  propagation,
  ProxyTracerProvider,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import type { Ingest } from "../ingest/ingest.ts";
import type { RequestHeaders } from "../ingest/request.ts";

const TRACER_NAME = "@device-risk-signals/server";

/** Asked for at each use: a host may register its SDK later, and through another copy of the API. */
const tracer = (): Tracer => trace.getTracer(TRACER_NAME);

/** Whether an OpenTelemetry SDK is registered. Without one, the provider of the OpenTelemetry API has no delegate. */
function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(TRACER_NAME) !== undefined;
}

const HEADER_GETTER: TextMapGetter<RequestHeaders> = {
  keys: () => ["traceparent", "tracestate"],
  get: (headers, name) =>
    name === "traceparent" || name === "tracestate" ? headers.all(name).join(",") || undefined : undefined,
};

/**
 * Records one server span for each request, as a child of the caller's span (W3C Trace Context). The attributes of the
 * span are the method, the route and the status of the answer, and never contain other text of the client. Without a
 * registered OpenTelemetry SDK, no span is recorded.
 */
export function traced(ingest: Ingest, route: string): Ingest {
  return (request) => {
    if (!isTraced()) return ingest(request);
    const parent = propagation.extract(context.active(), request.headers, HEADER_GETTER);
    const attributes = { "http.request.method": request.method, "http.route": route };
    return tracer().startActiveSpan(`POST ${route}`, { kind: SpanKind.SERVER, attributes }, parent, async (span) => {
      const answer = await ingest(request);
      span.setAttribute("http.response.status_code", answer.status);
      if (answer.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      return answer;
    });
  };
}

/** Records a span for a commit batch when the batch is done, because a batch belongs to many requests. */
export function traceCommit(events: number, seconds: number): void {
  if (!isTraced()) return;
  const now = Date.now();
  const span = tracer().startSpan("commit batch", {
    kind: SpanKind.CLIENT,
    root: true,
    startTime: now - seconds * 1000,
    attributes: { "db.system.name": "postgresql", "db.operation.batch.size": events },
  });
  span.end(now);
}
