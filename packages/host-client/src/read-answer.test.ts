import { PROBLEMS, problemOf, reject, type ProblemCode } from "@device-risk-signals/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readAnswer } from "./read-answer.ts";

const read = (status: number, body: unknown, retryAfterMs?: number) =>
  readAnswer({ status, text: typeof body === "string" ? body : JSON.stringify(body), retryAfterMs });

describe("an answer of the endpoint", () => {
  it.each([200, 201])("with status %d says what was stored", (status) => {
    expect(read(status, { event_id: "e", created: true })).toEqual({ outcome: "stored", eventId: "e" });
    expect(read(status, { event_id: "e", created: false })).toEqual({ outcome: "replayed", eventId: "e" });
  });

  /** What becomes of each code of the registry; a new one has to be decided here. */
  const meaning: Record<ProblemCode, string> = {
    "method-not-allowed": "rejected",
    "credentials-missing": "signed-out",
    "credentials-invalid": "signed-out",
    "too-many-failures": "busy",
    "too-many-requests": "busy",
    "idempotency-key-missing": "rejected",
    "idempotency-key-invalid": "rejected",
    "media-type-unsupported": "rejected",
    "encoding-unsupported": "rejected",
    "body-corrupt": "busy",
    "body-too-large": "rejected",
    "text-invalid": "rejected",
    "request-invalid": "rejected",
    "adopted-field-invalid": "rejected",
    "collected-at-stale": "rejected",
    "collected-at-future": "rejected",
    "action-refused": "rejected",
    "purpose-missing": "rejected",
    "purpose-exceeded": "rejected",
    "session-mismatch": "rejected",
    "idempotency-conflict": "conflict",
    "not-found": "rejected",
    "request-timeout": "busy",
    "headers-too-large": "rejected",
    "http-malformed": "rejected",
    "storage-failed": "busy",
    overloaded: "busy",
    draining: "busy",
    unavailable: "busy",
  };
  it.each(Object.keys(PROBLEMS) as ProblemCode[])("with the problem %s is told by its code", (code) => {
    const problem = problemOf(reject(code));
    expect(read(problem.status, problem)).toMatchObject({ reason: meaning[code], status: problem.status, code });
  });

  it("names the places, and not the texts, of a refusal", () => {
    const errors = [
      { pointer: "/observations/probes", code: "type-wrong", detail: "text" },
      { pointer: "/platform", code: "value-not-allowed", detail: "text" },
    ];
    expect(read(400, { type: "urn:problem:device-risk-signals:request-invalid", errors })).toEqual({
      outcome: "refused",
      reason: "rejected",
      status: 400,
      code: "request-invalid",
      errors: errors.map(({ pointer, code }) => ({ pointer, code })),
    });
  });
});

describe("an answer of something else", () => {
  it.each([
    [200, "<html>Welcome to the hotel</html>"],
    [201, ""],
    [200, "null"],
    [200, "[]"],
    [200, '"text"'],
    [200, { event_id: 7, created: true }],
    [200, { event_id: "", created: true }],
    [200, { event_id: "e", created: "true" }],
    [200, '{"event_id":"e","created":tr'],
    [204, ""],
    [202, { event_id: "e", created: true }],
    [302, ""],
    [0, ""],
  ])("is no success: %d %j", (status, body) => {
    expect(read(status, body)).toMatchObject({ outcome: "later", reason: "unintelligible", status });
  });

  it.each([400, 403, 404, 405, 413, 415, 422, 431])("is a refusal without a code with %d", (status) => {
    const refused = { outcome: "refused", reason: "rejected", status, code: undefined, errors: [] };
    expect(read(status, "<html>")).toEqual(refused);
    expect(read(status, { type: "about:blank", errors: "none" })).toEqual(refused);
  });

  it.each([407, 408, 425, 429, 500, 502, 503, 504, 511])("is to be asked again with %d", (status) => {
    expect(read(status, "<html>", 5)).toMatchObject({ outcome: "later", reason: "busy", status, retryAfterMs: 5 });
  });

  it("never throws, and is a success only with both members", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), fc.oneof(fc.json(), fc.string()), (status, text) => {
        expect(["later", "refused"]).toContain(readAnswer({ status, text, retryAfterMs: undefined }).outcome);
      }),
    );
    expect(read(400, { errors: [null, 7, "x", { pointer: 1 }] })).toMatchObject({ outcome: "refused" });
  });
});
