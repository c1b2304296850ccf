import { afterEach, describe, expect, it, vi } from "vitest";
import { makeIdempotencyKey, platformRandomBytes, type RandomBytes } from "./idempotency-key.ts";

afterEach(() => vi.unstubAllGlobals());

describe("an idempotency key", () => {
  it("is the random bytes in hexadecimal", () => {
    const bytes = Array.from({ length: 16 }, (_, index) => index * 16 + 1);
    expect(makeIdempotencyKey(() => bytes)).toBe("01112131415161718191a1b1c1d1e1f1");
  });

  it("is different each time with the platform's random bytes", () => {
    const randomBytes = platformRandomBytes();
    if (!randomBytes) throw new Error("no random bytes");
    expect(new Set(Array.from({ length: 1_000 }, () => makeIdempotencyKey(randomBytes))).size).toBe(1_000);
  });

  it.each([
    ["too few", () => [1, 2, 3]],
    ["one byte over and over", () => new Uint8Array(16)],
    ["fractions", (length: number) => Array.from({ length }, Math.random)],
    ["a text", (() => "0123456789abcdef") as unknown as RandomBytes],
    ["digits", (() => [..."0123456789012345"]) as unknown as RandomBytes],
    ["numbers that are no bytes", (length: number) => Array.from({ length }, (_, index) => index * 1_000)],
    ["a promise", (async (length: number) => new Uint8Array(length)) as unknown as RandomBytes],
  ])("is not made of %s", (_, randomBytes) => expect(() => makeIdempotencyKey(randomBytes)).toThrow(TypeError));

  it("can't be made where there is no crypto, and no weaker source is used", () => {
    vi.stubGlobal("crypto", undefined);
    expect(platformRandomBytes()).toBeUndefined();
    vi.stubGlobal("crypto", {});
    expect(platformRandomBytes()).toBeUndefined();
  });
});
