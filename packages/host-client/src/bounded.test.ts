import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { bounded, type Bounds, pause } from "./bounded.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const never = (): Promise<never> => new Promise(() => {});

describe("bounded work", () => {
  it("has the result or the error of its function, and leaves no timer and no listener", async () => {
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, "removeEventListener");
    await expect(bounded(async () => 7, 1_000, signal)).resolves.toBe(7);
    await expect(bounded(() => Promise.reject(new Error("own")), 1_000, signal)).rejects.toThrow("own");
    expect(remove.mock.calls.map(([type]) => type)).toEqual(["abort", "abort"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends even if its function never ends, and aborts the signal of the function", async () => {
    let bounds: Bounds | undefined;
    const result = bounded(
      (given) => {
        bounds = given;
        return never();
      },
      1_000,
      undefined,
    );
    await vi.advanceTimersByTimeAsync(999);
    expect(bounds?.isOver()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toBe("timeout");
    expect(bounds?.isOver()).toBe(true);
    expect(bounds?.signal).toMatchObject({ aborted: true });
  });

  it("ends when the caller's signal is aborted, and at once if the signal was aborted before the call", async () => {
    const controller = new AbortController();
    const result = bounded(never, 1_000, controller.signal);
    controller.abort();
    expect(await result).toBe("aborted");
    const work = vi.fn(never);
    expect(await bounded(work, 1_000, controller.signal)).toBe("aborted");
    expect(work).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ignores an error that the function throws later", async () => {
    let fail: ((error: Error) => void) | undefined;
    const result = bounded(() => new Promise((_, reject) => (fail = reject)), 10, undefined);
    await vi.advanceTimersByTimeAsync(10);
    fail?.(new Error("late"));
    expect(await result).toBe("timeout");
  });

  it("needs no AbortController", async () => {
    vi.stubGlobal("AbortController", undefined);
    const result = bounded(never, 10, undefined);
    await vi.advanceTimersByTimeAsync(10);
    expect(await result).toBe("timeout");
  });
});

describe("a pause", () => {
  it("reports whether it ended early", async () => {
    const controller = new AbortController();
    const whole = pause(50, undefined);
    const cut = pause(50, controller.signal);
    controller.abort();
    await vi.advanceTimersByTimeAsync(50);
    expect([await whole, await cut]).toEqual(["timeout", "aborted"]);
  });
});
