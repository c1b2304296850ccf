import { expect, test } from "vitest";
import { Unavailable } from "../base/ports.ts";
import { headersOf } from "./headers.fixture.ts";
import { createIngest, type IngestPorts } from "./ingest.ts";

const OPTIONS = { maxBodyBytes: 1, bodyTimeout: 1, maxAge: 1, maxFuture: 1, sessionBinding: "off" } as const;
const REQUEST = {
  method: "POST",
  headers: headersOf({ authorization: "Bearer token" }),
  body: { forEach: async () => "end" as const },
  peer: "192.0.2.1",
};

test.each([
  ["an unexpected error is a 500", new Error("SECRET"), 500, "storage-failed", undefined],
  ["a dependency that is away is a 503", new Unavailable("SECRET"), 503, "unavailable", "1"],
])("%s, which is reported and not quoted", async (_, thrown, status, code, retryAfter) => {
  const reported: unknown[] = [];
  const audited: unknown[] = [];
  const counted: unknown[] = [];
  const listed: unknown[] = [];
  const ports: Pick<IngestPorts, "sessions" | "audit" | "rejections" | "recentRejections" | "meter" | "onError"> = {
    sessions: { verify: () => Promise.reject(thrown) },
    audit: { record: ({ outcome }) => void audited.push(outcome) },
    rejections: { count: (rejection, sdkVersion) => void counted.push([rejection.code, sdkVersion]) },
    recentRejections: { add: ({ rejection: { code: problem } }) => void listed.push(problem) },
    meter: { answered: () => {}, warned: () => {}, scanned: () => {} },
    onError: (...error) => void reported.push(error),
  };
  const answer = await createIngest(ports as IngestPorts, OPTIONS)(REQUEST);
  expect(answer).toMatchObject({ status, headers: { "Content-Type": "application/problem+json" } });
  expect(answer.headers["Retry-After"]).toBe(retryAfter);
  expect(JSON.parse(answer.body)).toMatchObject({ type: `urn:problem:device-risk-signals:${code}`, status });
  expect(answer.body).not.toContain("SECRET");
  expect([reported, audited, counted]).toEqual([[[thrown, "ingest request"]], [code], [[code, undefined]]]);
  expect(listed).toEqual([code]);
});
