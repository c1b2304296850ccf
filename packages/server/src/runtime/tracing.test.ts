import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Ingest } from "../ingest/ingest.ts";
import { traceCommit, traced } from "./tracing.ts";

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });

beforeAll(() => {
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});

afterAll(async () => {
  await provider.shutdown();
  for (const api of [trace, context, propagation]) api.disable();
});

const answering =
  (status: number): Ingest =>
  async () => ({ status, headers: {}, body: "secret body" });

test("a request is one server span, a child of the caller's span, without text of the client", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const headers = { all: (name: string) => (name === "traceparent" ? [traceparent] : ["secret header"]) };
  const body = { forEach: async () => "end" as const };
  await traced(answering(201), "/events")({ method: "POST", headers, body, peer: "192.0.2.1" });
  const [span] = exporter.getFinishedSpans();
  expect(span?.spanContext().traceId).toBe("0af7651916cd43dd8448eb211c80319c");
  expect(span?.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
  expect(span?.attributes).toEqual({
    "http.request.method": "POST",
    "http.route": "/events",
    "http.response.status_code": 201,
  });
  expect(JSON.stringify([span?.name, span?.attributes, span?.events])).not.toContain("secret");
});

test("a commit batch is a span with its size", () => {
  exporter.reset();
  traceCommit(7, 0.25);
  const [span] = exporter.getFinishedSpans();
  expect(span?.attributes["db.operation.batch.size"]).toBe(7);
  expect(span?.duration[1]).toBeGreaterThan(200_000_000);
});
