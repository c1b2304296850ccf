import { describe, expect, it } from "vitest";
import { Admission, type Permit } from "./admission.ts";
import { headersOf } from "./headers.fixture.ts";
import { RejectedRequest } from "./request.ts";

const LIMIT = 1_000;

let accountCount = 0;

/** Requests a permit for a body that announces this many bytes; without an account, for a new one. */
function enter(
  admission: Admission,
  announced?: number | string,
  encoding: "identity" | "gzip" = "identity",
  account = `account-${accountCount++}`,
  limit = LIMIT,
): Permit | RejectedRequest {
  const headers = headersOf(announced === undefined ? {} : { "content-length": String(announced) });
  return admission.enter(account, headers, encoding, limit);
}

function permitOf(permit: Permit | RejectedRequest): Permit {
  if (permit instanceof RejectedRequest) throw new Error(permit.rejection.code);
  return permit;
}

const rejectionOf = (permit: Permit | RejectedRequest): unknown =>
  permit instanceof RejectedRequest
    ? { code: permit.rejection.code, retry: permit.headers["Retry-After"] }
    : "admitted";

const TOO_MANY = { code: "too-many-requests", retry: "1" };
const OVERLOADED = { code: "overloaded", retry: "1" };

describe("concurrent requests", () => {
  it("are bounded, and each one that ends admits another", () => {
    const admission = new Admission(2, 1_000_000);
    const first = permitOf(enter(admission, 1));
    permitOf(enter(admission, 1));
    expect(rejectionOf(enter(admission, 1))).toEqual(OVERLOADED);
    expect(admission.requests).toBe(2);
    first.release();
    expect(admission.requests).toBe(1);
    permitOf(enter(admission, 1));
    expect(rejectionOf(enter(admission, 1))).toEqual(OVERLOADED);
  });
});

describe("bytes of concurrent requests", () => {
  it("count as announced, if the announcement can be trusted", () => {
    const admission = new Admission(100, 2_000);
    const first = permitOf(enter(admission, 900));
    permitOf(enter(admission, 900));
    expect(rejectionOf(enter(admission, 201))).toEqual(OVERLOADED);
    permitOf(enter(admission, 200));
    first.release();
    permitOf(enter(admission, 900));
  });

  it.each([
    ["that announces no length", undefined, "identity"],
    ["that announces more than the limit: reading stops there", 5_000, "identity"],
    ["that announces nonsense", "many", "identity"],
    ["that is compressed", 10, "gzip"],
  ] as const)("of a body %s count as the limit", (_, announced, encoding) => {
    const admission = new Admission(100, 2 * LIMIT + 1);
    permitOf(enter(admission, announced, encoding));
    permitOf(enter(admission, announced, encoding));
    permitOf(enter(admission, 1));
    expect(rejectionOf(enter(admission, 1))).toEqual(OVERLOADED);
  });

  it("never exclude the only request", () => {
    const admission = new Admission(100, 10);
    const permit = permitOf(enter(admission, 900));
    expect(rejectionOf(enter(admission, 1))).toEqual(OVERLOADED);
    permit.release();
    permitOf(enter(admission, 900));
  });
});

describe("one account in admission control", () => {
  const MEGABYTE = 1024 * 1024;
  const of = (admission: Admission, account: string, bytes = 1): Permit | RejectedRequest =>
    enter(admission, bytes, "identity", account, MEGABYTE);

  it("may hold a quarter of the permits, and leaves the rest to other accounts", () => {
    const admission = new Admission(200, 1_000 * MEGABYTE);
    const permits = Array.from({ length: 50 }, () => permitOf(of(admission, "greedy")));
    expect(rejectionOf(of(admission, "greedy"))).toEqual(TOO_MANY);
    for (let count = 0; count < 50; count++) permitOf(of(admission, "other"));
    permits[0]?.release();
    permitOf(of(admission, "greedy"));
    expect(rejectionOf(of(admission, "greedy"))).toEqual(TOO_MANY);
  });

  it("may hold a quarter of the bytes", () => {
    const admission = new Admission(10_000, 64 * MEGABYTE);
    for (let count = 0; count < 16; count++) permitOf(of(admission, "greedy", MEGABYTE));
    expect(rejectionOf(of(admission, "greedy"))).toEqual(TOO_MANY);
    permitOf(of(admission, "other", MEGABYTE));
  });

  it("may hold 32 permits and 8 MiB if that is more than a quarter, within the limits of the server", () => {
    const many = new Admission(40, 1_000 * MEGABYTE);
    for (let count = 0; count < 32; count++) permitOf(of(many, "a"));
    expect(rejectionOf(of(many, "a"))).toEqual(TOO_MANY);
    for (let count = 0; count < 8; count++) permitOf(of(many, "b"));
    expect(rejectionOf(of(many, "b"))).toEqual(OVERLOADED);
    const large = new Admission(1_000, 12 * MEGABYTE);
    for (let count = 0; count < 8; count++) permitOf(of(large, "a", MEGABYTE));
    expect(rejectionOf(of(large, "a", MEGABYTE))).toEqual(TOO_MANY);
    for (let count = 0; count < 4; count++) permitOf(of(large, "b", MEGABYTE));
    expect(rejectionOf(of(large, "b", MEGABYTE))).toEqual(OVERLOADED);
  });

  it("holds no permit for a rejected request", () => {
    const admission = new Admission(40, 1_000 * MEGABYTE);
    const permits = Array.from({ length: 32 }, () => permitOf(of(admission, "a")));
    for (let count = 0; count < 100; count++) of(admission, "a");
    expect(admission.requests).toBe(32);
    for (const permit of permits) permit.release();
    expect(admission.requests).toBe(0);
    for (let count = 0; count < 32; count++) permitOf(of(admission, "a"));
  });
});

describe("the draining of requests", () => {
  it("rejects new requests, and ends when the last accepted one has ended", async () => {
    const admission = new Admission(10, 1_000_000);
    const permits = [permitOf(enter(admission, 1)), permitOf(enter(admission, 1))];
    let drained = false;
    const end = admission.drain().then(() => (drained = true));
    expect(admission.draining).toBe(true);
    expect(rejectionOf(enter(admission, 1))).toEqual({ code: "draining", retry: "2" });
    permits[0]?.release();
    await new Promise(setImmediate);
    expect(drained).toBe(false);
    permits[1]?.release();
    await end;
    expect(drained).toBe(true);
  });

  it("ends at once when no request is in progress", async () => {
    const admission = new Admission(10, 1_000_000);
    permitOf(enter(admission, 1)).release();
    await admission.drain();
  });

  it("may be started twice, and both calls resolve at its end", async () => {
    const admission = new Admission(10, 1_000_000);
    const permit = permitOf(enter(admission, 1));
    const both = Promise.all([admission.drain(), admission.drain()]);
    permit.release();
    await both;
  }, 2_000);
});
