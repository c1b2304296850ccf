import { PROBLEMS, problemOf, reject, type ProblemCode } from "@device-risk-signals/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readAnswer } from "./read-answer.ts";

const read = (status: number, body: unknown, retryAfterMs?: number) =>
  readAnswer({ status, text: typeof body === "string" ? body : JSON.stringify(body), retryAfterMs });

describe("the client's reading of an answer of the endpoint", () => {
  it.each([200, 201])("finds the stored event with status %d", (status) => {
    expect(read(status, { event_id: "e", created: true })).toEqual({ outcome: "stored", eventId: "e" });
    expect(read(status, { event_id: "e", created: false })).toEqual({ outcome: "replayed", eventId: "e" });
  });

  /** The expected outcome for each code of the error registry. A new code must be added here. */
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
    "account-erased": "rejected",
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
  it.each(Object.keys(PROBLEMS) as ProblemCode[])("finds the reason for the problem %s, and its code", (code) => {
    const problem = problemOf(reject(code));
    expect(read(problem.status, problem)).toMatchObject({ reason: meaning[code], status: problem.status, code });
  });

  it("returns the pointers, but not the texts, of a rejection", () => {
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

describe("the client's reading of an answer of something else", () => {
  it.each([
    [
      "a type that only contains one of the server's",
      400,
      "https://proxy.example/urn:problem:device-risk-signals:unknown",
    ],
    ["a status that is no error", 302, "urn:problem:device-risk-signals:request-invalid"],
  ])("finds no rejection in a problem with %s", (_, status, type) => {
    expect(read(status, { type })).toEqual({ outcome: "later", reason: "unintelligible", status });
  });

  it("finds no pointers if a problem has no list of errors", () => {
    const type = "urn:problem:device-risk-signals:request-invalid";
    expect(read(400, { type, errors: "none" })).toMatchObject({ outcome: "refused", errors: [] });
  });

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
  ])("finds no success: %d %j", (status, body) => {
    expect(read(status, body)).toMatchObject({ outcome: "later", reason: "unintelligible", status });
  });

  it("finds a final rejection with 413 and any page", () => {
    for (const page of ["", "<html>", { type: "about:blank", errors: "none" }, { event_id: "e", created: true }]) {
      expect(read(413, page)).toEqual({ outcome: "refused", reason: "rejected", status: 413, errors: [] });
    }
  });

  it.each([400, 403, 404, 405, 409, 415, 422, 431])("finds no rejection by the endpoint with %d", (status) => {
    const later = { outcome: "later", reason: "unintelligible", status };
    expect(read(status, "<html>")).toEqual(later);
    expect(read(status, { type: "about:blank", errors: "none" })).toEqual(later);
  });

  it.each([407, 408, 425, 429, 500, 502, 503, 504, 511])("finds a busy server, to be retried, with %d", (status) => {
    expect(read(status, "<html>", 5)).toMatchObject({ outcome: "later", reason: "busy", status, retryAfterMs: 5 });
  });

  it("never throws, and is a success only if both members are there", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), fc.oneof(fc.json(), fc.string()), (status, text) => {
        expect(["later", "refused"]).toContain(readAnswer({ status, text, retryAfterMs: undefined }).outcome);
      }),
    );
  });
});

describe("the client's reading of a hostile answer", () => {
  const TYPE = "urn:problem:device-risk-signals:";
  const readRejection = (errors: unknown) => read(400, { type: `${TYPE}request-invalid`, errors });

  it.each(["x".repeat(65), "x".repeat(1_000_000), "eyJhbGciOi.J9", "a b", "code\n", ""])(
    "takes no text of it into a code",
    (code) => {
      expect(read(400, { type: TYPE + code })).toEqual({ outcome: "later", reason: "unintelligible", status: 400 });
      expect(read(503, { type: TYPE + code })).toMatchObject({ reason: "busy", code: undefined });
      expect(readRejection([{ pointer: "/a", code }])).toMatchObject({ errors: [] });
    },
  );

  it("takes at most 100 pointers of at most 1,024 characters", () => {
    const long = { pointer: `/${"a".repeat(1_000_000)}`, code: "type-wrong" };
    const errors = [long, ...Array.from({ length: 100_000 }, () => ({ ...long, pointer: "/a" }))];
    const result = readRejection(errors);
    if (!("errors" in result)) throw new Error("no rejection");
    expect(result.errors).toHaveLength(100);
    expect(Math.max(...result.errors.map(({ pointer }) => pointer.length))).toBe(1_024);
  });

  it.each([
    [null],
    [7],
    ["x"],
    [{ pointer: 1, code: "a" }],
    [{ pointer: { toString: 1 }, code: "a" }],
    [{ pointer: "/a" }],
  ])("takes no pointer for %j, and finds a rejection all the same", (error) => {
    const good = { pointer: "", code: "type-wrong" };
    expect(readRejection([error, good])).toMatchObject({ outcome: "refused", code: "request-invalid", errors: [good] });
  });
});
