/** A host that has registered an OpenTelemetry SDK. */
import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect, onTestFinished, test } from "vitest";
import { authorized, PATH, send, transport } from "../../../e2e/support/client.ts";
import { sharedDatabase } from "../../../e2e/support/database.ts";
import { startExpress } from "./express.ts";
import { CUSTOMER, PAYMENT } from "./host.ts";

test("sees each request as a child of the caller's span, and each commit, without text of the client", async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const database = await sharedDatabase();
  const { url, close } = await startExpress(await database.environment());
  onTestFinished(async () => {
    await close();
    await database.close();
    await provider.shutdown();
    for (const api of [trace, context, propagation]) api.disable();
  });

  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const headers = { ...authorized({ ...CUSTOMER, ...PAYMENT }), traceparent };
  const body = JSON.stringify(transport({ ...CUSTOMER, ...PAYMENT }));
  expect((await send({ url, headers, body })).status).toBe(201);

  const spans = exporter.getFinishedSpans();
  const request = spans.find(({ name }) => name === `POST ${PATH}`);
  expect(request?.spanContext().traceId).toBe("0af7651916cd43dd8448eb211c80319c");
  expect(request?.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
  expect(request?.attributes).toEqual({
    "http.request.method": "POST",
    "http.route": PATH,
    "http.response.status_code": 201,
  });
  const commit = spans.find(({ name }) => name === "commit batch");
  expect(commit?.attributes["db.operation.batch.size"]).toBe(1);
  expect(commit?.duration.every((part) => part >= 0)).toBe(true);
  const texts = JSON.stringify(spans.map(({ name, attributes, events }) => [name, attributes, events]));
  for (const text of [CUSTOMER.account, CUSTOMER.token, PAYMENT.actionId]) expect(texts).not.toContain(text);
});
