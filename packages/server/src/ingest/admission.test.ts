import { describe, expect, it } from "vitest";
import { Admission, type Permit } from "./admission.ts";
import { RejectedRequest } from "./request.ts";

const LIMIT = 1_000;

let accountCount = 0;

/** Requests a permit for a body whose Content-Length is `announced`. Each call without `account` uses a new account. */
function enter(
  admission: Admission,
  announced?: number,
  encoding: "identity" | "gzip" = "identity",
  account = `account-${accountCount++}`,
  limit = LIMIT,
): Permit | RejectedRequest {
  return admission.enter(account, { encoding, length: announced }, limit);
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
  it("are limited, and each request that ends makes room for another", () => {
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
  it("count as Content-Length says, if the body is not compressed and within the limit", () => {
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
    ["that announces more than the limit, at which reading stops", 5_000, "identity"],
    ["that is compressed", 10, "gzip"],
  ] as const)("of a body %s count as the limit", (_, announced, encoding) => {
    const admission = new Admission(100, 2 * LIMIT + 1);
    permitOf(enter(admission, announced, encoding));
    permitOf(enter(admission, announced, encoding));
    permitOf(enter(admission, 1));
    expect(rejectionOf(enter(admission, 1))).toEqual(OVERLOADED);
  });

  it("never reject a request that is the only one in progress", () => {
    const admission = new Admission(100, 10);
    const permit = permitOf(enter(admission, 900));
    expect(rejectionOf(enter(admission, 1))).toEqual(OVERLOADED);
    permit.release();
    permitOf(enter(admission, 900));
  });
});

describe("one account in admission control", () => {
  const MEGABYTE = 1024 * 1024;
  const enterAs = (admission: Admission, account: string, bytes = 1): Permit | RejectedRequest =>
    enter(admission, bytes, "identity", account, MEGABYTE);

  it("may hold a quarter of the permits, and leaves the rest to other accounts", () => {
    const admission = new Admission(200, 1_000 * MEGABYTE);
    const permits = Array.from({ length: 50 }, () => permitOf(enterAs(admission, "greedy")));
    expect(rejectionOf(enterAs(admission, "greedy"))).toEqual(TOO_MANY);
    for (let count = 0; count < 50; count++) permitOf(enterAs(admission, "other"));
    permits[0]?.release();
    permitOf(enterAs(admission, "greedy"));
    expect(rejectionOf(enterAs(admission, "greedy"))).toEqual(TOO_MANY);
  });

  it("may hold a quarter of the bytes", () => {
    const admission = new Admission(10_000, 64 * MEGABYTE);
    for (let count = 0; count < 16; count++) permitOf(enterAs(admission, "greedy", MEGABYTE));
    expect(rejectionOf(enterAs(admission, "greedy"))).toEqual(TOO_MANY);
    permitOf(enterAs(admission, "other", MEGABYTE));
  });

  it("may hold 32 permits and 8 MiB if that is more than a quarter, within the limits of the server", () => {
    const many = new Admission(40, 1_000 * MEGABYTE);
    for (let count = 0; count < 32; count++) permitOf(enterAs(many, "a"));
    expect(rejectionOf(enterAs(many, "a"))).toEqual(TOO_MANY);
    for (let count = 0; count < 8; count++) permitOf(enterAs(many, "b"));
    expect(rejectionOf(enterAs(many, "b"))).toEqual(OVERLOADED);
    const large = new Admission(1_000, 12 * MEGABYTE);
    for (let count = 0; count < 8; count++) permitOf(enterAs(large, "a", MEGABYTE));
    expect(rejectionOf(enterAs(large, "a", MEGABYTE))).toEqual(TOO_MANY);
    for (let count = 0; count < 4; count++) permitOf(enterAs(large, "b", MEGABYTE));
    expect(rejectionOf(enterAs(large, "b", MEGABYTE))).toEqual(OVERLOADED);
  });

  it("holds no permit for a rejected request", () => {
    const admission = new Admission(40, 1_000 * MEGABYTE);
    const permits = Array.from({ length: 32 }, () => permitOf(enterAs(admission, "a")));
    for (let count = 0; count < 100; count++) enterAs(admission, "a");
    expect(admission.requests).toBe(32);
    for (const permit of permits) permit.release();
    expect(admission.requests).toBe(0);
    for (let count = 0; count < 32; count++) permitOf(enterAs(admission, "a"));
  });
});

describe("the draining of requests", () => {
  it("rejects new requests, and ends when the last accepted one has ended", async () => {
    const admission = new Admission(10, 1_000_000);
    const permits = [permitOf(enter(admission, 1)), permitOf(enter(admission, 1))];
    let drained = false;
    const end = admission.drain().then(() => (drained = true));
    expect(admission.isDraining).toBe(true);
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

  it("may be requested twice, and both calls resolve when it ends", async () => {
    const admission = new Admission(10, 1_000_000);
    const permit = permitOf(enter(admission, 1));
    const both = Promise.all([admission.drain(), admission.drain()]);
    permit.release();
    await both;
  }, 2_000);
});
