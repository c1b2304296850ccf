import { describe, expect, it } from "vitest";
import { accountThrottle, failureThrottle, type RateThrottle } from "../ingest/throttle.ts";
import { type Taken, ThrottleExchange } from "./throttle-exchange.ts";

const RATE = 50;
const BURST = 100;

/** Processes whose reports arrive when `deliver` is called. */
function makeProcesses(count: number) {
  const time = { now: 0 };
  const clock = { now: () => time.now };
  const waiting: (() => void)[] = [];
  const sent: { readonly from: number; readonly taken: Taken }[] = [];
  const exchanges = Array.from(
    { length: count },
    (_, from) =>
      new ThrottleExchange(
        (taken) => void sent.push({ from, taken }),
        (work) => void waiting.push(work),
      ),
  );
  const throttles = exchanges.map((exchange) => accountThrottle(RATE, BURST, clock, exchange.of("account")));
  const failures = exchanges.map((exchange) => failureThrottle(10, 50, clock, exchange.of("failure")));
  const deliver = (): void => {
    for (const work of waiting.splice(0)) work();
    for (const { from, taken } of sent.splice(0)) {
      exchanges.forEach((exchange, to) => from !== to && exchange.receive(taken));
    }
  };
  return { time, exchanges, throttles, failures, sent, deliver };
}

const countAllowed = (throttle: RateThrottle, requests: number, account = "a"): number =>
  Array.from({ length: requests }, () => throttle.take(account)).filter(({ isAllowed }) => isAllowed).length;

describe("throttles of three processes", () => {
  it("admit an account on all of them at its rate, after at most one burst on each", () => {
    const { time, throttles, deliver } = makeProcesses(3);
    const seconds = 60;
    let allowed = 0;
    for (; time.now < seconds * 1_000; time.now += 10) {
      for (const throttle of throttles) allowed += countAllowed(throttle, 5);
      if (time.now % 50 === 0) deliver();
    }
    expect(allowed).toBeLessThanOrEqual(RATE * seconds + 3 * BURST);
    expect(allowed).toBeGreaterThanOrEqual(RATE * seconds);
  });

  it("admit an account on one of them at its full rate and burst", () => {
    const { time, throttles, deliver } = makeProcesses(3);
    const [throttle] = throttles as [RateThrottle];
    expect(countAllowed(throttle, BURST + 1)).toBe(BURST);
    deliver();
    let allowed = 0;
    for (; time.now <= 10_000; time.now += 20) {
      allowed += countAllowed(throttle, 1);
      deliver();
    }
    expect(allowed).toBe(RATE * 10);
  });

  it("make only the account wait that exceeded its rate, and report for how long", () => {
    const { throttles, deliver } = makeProcesses(2);
    const [first, second] = throttles as [RateThrottle, RateThrottle];
    first.take("a");
    first.charge("a", 149);
    deliver();
    expect(second.take("a")).toMatchObject({ isAllowed: false, retryAfterSeconds: 2 });
    expect(second.take("b")).toMatchObject({ isAllowed: true });
  });

  it("are known to a process that starts later, even if it receives their levels several times", () => {
    const { throttles, exchanges, time } = makeProcesses(2);
    const [throttle] = throttles as [RateThrottle];
    countAllowed(throttle, 80, "a");
    countAllowed(throttle, 1, "idle");
    time.now = 200;
    const levels = exchanges[0]?.levels() ?? [];
    expect(levels).toEqual([["account", "a", 70]]);
    for (let round = 0; round < 2; round++) exchanges[1]?.raise(levels);
    expect(countAllowed(throttles[1] as RateThrottle, BURST)).toBe(BURST - 70);
  });

  it("report each name once in a message, and send no message if nothing was taken", () => {
    const { throttles, failures, sent, deliver } = makeProcesses(2);
    deliver();
    expect(sent).toEqual([]);
    const [throttle] = throttles as [RateThrottle];
    countAllowed(throttle, 3, "a");
    countAllowed(throttle, 2, "b");
    failures[0]?.take("192.0.2.1");
    const seen: Taken[] = [];
    const push = sent.push.bind(sent);
    sent.push = (...items) => {
      seen.push(...items.map(({ taken }) => taken));
      return push(...items);
    };
    deliver();
    expect(seen).toEqual([
      [
        ["account", "a", 3],
        ["account", "b", 2],
        ["failure", "192.0.2.1", 1],
      ],
    ]);
  });
});
