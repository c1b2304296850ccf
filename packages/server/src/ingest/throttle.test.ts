import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accountThrottle, failureThrottle } from "./throttle.ts";

const MAX_NAMES = 100_000;

function clockAt(now = 1_000_000) {
  const time = { now };
  return { time, clock: { now: () => time.now } };
}

describe("the throttle by account", () => {
  it("admits a burst at once, then rejects, and reports how many requests are left", () => {
    const { clock } = clockAt();
    const throttle = accountThrottle(10, 5, clock);
    const decisions = Array.from({ length: 7 }, () => throttle.take("a"));
    expect(decisions.map(({ isAllowed }) => isAllowed)).toEqual([true, true, true, true, true, false, false]);
    expect(decisions.map(({ headers }) => headers["RateLimit"])).toEqual([
      '"account";r=4;t=1',
      '"account";r=3;t=1',
      '"account";r=2;t=1',
      '"account";r=1;t=1',
      '"account";r=0;t=1',
      '"account";r=0;t=1',
      '"account";r=0;t=1',
    ]);
    expect(decisions[0]?.headers["RateLimit-Policy"]).toBe('"account";q=5;w=1');
  });

  it("admits one more request in each interval", () => {
    const { time, clock } = clockAt();
    const throttle = accountThrottle(10, 5, clock);
    for (let count = 0; count < 5; count++) throttle.take("a");
    time.now += 99;
    expect(throttle.take("a").isAllowed).toBe(false);
    time.now += 1;
    expect(throttle.take("a").isAllowed).toBe(true);
    expect(throttle.take("a").isAllowed).toBe(false);
    time.now += 10_000;
    expect(
      Array.from({ length: 6 }, () => throttle.take("a").isAllowed),
      "never more than a burst",
    ).toEqual([true, true, true, true, true, false]);
  });

  it("never admits more than burst and rate allow, and admits a request after the wait that it reports", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.nat(200), { minLength: 1, maxLength: 200 }),
        (rate, burst, pauses) => {
          const { time, clock } = clockAt();
          const throttle = accountThrottle(rate, burst, clock);
          const began = time.now;
          let passedCount = 0;
          for (const pause of pauses) {
            time.now += pause;
            const { isAllowed, retryAfterSeconds } = throttle.take("a");
            if (isAllowed) passedCount++;
            else {
              expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
              time.now += retryAfterSeconds * 1000;
              expect(throttle.take("a").isAllowed).toBe(true);
              passedCount++;
            }
            expect(passedCount).toBeLessThanOrEqual(burst + Math.floor(((time.now - began) * rate) / 1000 + 1e-6));
          }
        },
      ),
    );
  });

  it("reports the wait in whole seconds, rounded up", () => {
    const { time, clock } = clockAt();
    const throttle = accountThrottle(0.25, 1, clock);
    expect(throttle.take("a").isAllowed).toBe(true);
    expect(throttle.take("a").retryAfterSeconds).toBe(4);
    time.now += 1;
    expect(throttle.take("a").retryAfterSeconds).toBe(4);
    time.now += 2_999;
    expect(throttle.take("a").retryAfterSeconds).toBe(1);
    time.now += 1_000;
    expect(throttle.take("a").isAllowed).toBe(true);
  });

  it("charges nothing for a rejected request, so that repeated attempts do not lengthen the wait", () => {
    const { time, clock } = clockAt();
    const throttle = accountThrottle(1, 1, clock);
    throttle.take("a");
    for (let count = 0; count < 1_000; count++) throttle.take("a");
    time.now += 1_000;
    expect(throttle.take("a").isAllowed).toBe(true);
  });

  it("has a separate limit for each account", () => {
    const { clock } = clockAt();
    const throttle = accountThrottle(1, 1, clock);
    expect(throttle.take("a").isAllowed).toBe(true);
    expect(throttle.take("b").isAllowed).toBe(true);
    expect(throttle.take("a").isAllowed).toBe(false);
  });

  it("charges the rest of the cost after a request was read, shows it in the headers, and rejects requests until the debt is paid", () => {
    const { time, clock } = clockAt();
    const throttle = accountThrottle(10, 50, clock);
    expect(throttle.take("a").headers["RateLimit"]).toBe('"account";r=49;t=1');
    const charged = throttle.charge("a", 39);
    expect([charged.isAllowed, charged.headers["RateLimit"]]).toEqual([true, '"account";r=10;t=1']);
    expect(throttle.take("a").isAllowed).toBe(true);
    const indebted = throttle.charge("a", 39);
    expect(indebted.isAllowed, "a request of any cost passes if the account has no debt").toBe(true);
    expect(indebted.headers["RateLimit"]).toBe('"account";r=0;t=4');
    expect(throttle.take("a")).toMatchObject({ isAllowed: false, retryAfterSeconds: 4 });
    expect(throttle.take("b").isAllowed).toBe(true);
    time.now += 3_099;
    expect(throttle.take("a").isAllowed).toBe(false);
    time.now += 1;
    expect(throttle.take("a").isAllowed).toBe(true);
  });

  it("rejects a charge to an account in debt, so that concurrent requests can't all overdraw", () => {
    const throttle = accountThrottle(10, 20, clockAt().clock);
    for (let count = 0; count < 10; count++) throttle.take("a");
    const charged = Array.from({ length: 10 }, () => throttle.charge("a", 15));
    expect(charged.map(({ isAllowed }) => isAllowed)).toEqual([true, ...Array.from({ length: 9 }, () => false)]);
    expect(charged[9]?.retryAfterSeconds).toBe(1);
  });

  it("admits every request at rate 0, and sends no headers", () => {
    const throttle = accountThrottle(0, 1, clockAt().clock);
    for (let count = 0; count < 1_000; count++) {
      expect(throttle.take("a")).toEqual({ isAllowed: true, retryAfterSeconds: 0, headers: {} });
      expect(throttle.charge("a", 100)).toEqual({ isAllowed: true, retryAfterSeconds: 0, headers: {} });
    }
  });

  it("forgets the account that was unused for longest if there are too many accounts", () => {
    const { clock } = clockAt();
    const throttle = accountThrottle(1, 2, clock);
    throttle.take("first");
    throttle.take("second");
    for (let count = 2; count < MAX_NAMES; count++) throttle.take(`name-${count}`);
    // This use makes "second" the name that was unused for longest.
    expect(throttle.take("first").isAllowed).toBe(true);
    throttle.take("one too many");
    expect(throttle.take("first").isAllowed, "still remembered").toBe(false);
    expect(
      [throttle.take("second").isAllowed, throttle.take("second").isAllowed],
      "forgotten: a full burst again",
    ).toEqual([true, true]);
  });

  it("admits a burst, and not more, after a long pause", () => {
    const { time, clock } = clockAt();
    const throttle = accountThrottle(10, 5, clock);
    for (let count = 0; count < 5; count++) throttle.take("a");
    time.now += 86_400_000;
    expect(Array.from({ length: 6 }, () => throttle.take("a").isAllowed)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });
});

describe("the throttle by source address", () => {
  it("returns 0 for failures within the limit, then the seconds to wait", () => {
    const { time, clock } = clockAt();
    const throttle = failureThrottle(2, 3, clock);
    expect(Array.from({ length: 5 }, () => throttle.take("192.0.2.1"))).toEqual([0, 0, 0, 1, 1]);
    expect(throttle.take("192.0.2.2")).toBe(0);
    time.now += 500;
    expect(throttle.take("192.0.2.1")).toBe(0);
  });

  it("counts all addresses of an IPv6 /64 as one source", () => {
    const throttle = failureThrottle(1, 2, clockAt().clock);
    expect(throttle.take("2001:db8:1:2::1")).toBe(0);
    expect(throttle.take("2001:db8:1:2:ffff:ffff:ffff:ffff")).toBe(0);
    expect(throttle.take("2001:db8:1:2:aaaa::")).toBeGreaterThan(0);
    expect(throttle.take("2001:db8:1:3::1")).toBe(0);
  });

  it("counts an address as one source, in every spelling that proxies use", () => {
    const throttle = failureThrottle(1, 2, clockAt().clock);
    expect(throttle.take("192.0.2.1:50001")).toBe(0);
    expect(throttle.take("192.0.2.1:50002")).toBe(0);
    expect(throttle.take("192.0.2.1:50003")).toBeGreaterThan(0);
    expect(throttle.take("[2001:DB8::1]:50001")).toBe(0);
    expect(throttle.take("2001:0db8:0000:0000:0000:0000:0000:0002")).toBe(0);
    expect(throttle.take("2001:db8::3")).toBeGreaterThan(0);
  });
});
